import { describe, expect, it } from "vitest";
import { after, hours, minutes } from "../../../lambda/core/duration.ts";
import { isUnjoined, joinedHold, pastOf, startHold } from "../../../lambda/core/holds/hold.ts";
import { longestHold } from "../../../lambda/core/rules.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, someRules } from "../../support/builders.ts";

const at = (minute: number) => after(noon, minutes(minute));

describe("the start of a hold", () => {
  const { startedBecause, causes, causedAt } = aHold();
  const start = (id: string, record = aRecord()) =>
    startHold(record, { id, startedBecause, causes, causedAt, expiresAt: at(40) }, at(21));

  it("begins with nothing counted", () => {
    const hold = aHold({ id: holdId(2), startedAt: at(21), expiresAt: at(40), launches: 0 });
    expect(start(holdId(2))).toEqual({
      action: "start",
      hold,
      record: aRecord({ hold }),
      because: startedBecause,
    });
  });

  it("while the last one is released moves that one to history, and names this in its reason", () => {
    const old = aHold({ state: "releasing", endsBecause: "the hold expired", nodes: 7 });
    const past = { id: holdId(1), endedAt: at(21), endedBecause: "the hold expired", nodes: 7 };
    expect(start(holdId(2), aRecord({ hold: old }))).toMatchObject({
      hold: { id: holdId(2) },
      past,
      because: `${startedBecause}, while the last hold was being released`,
    });
  });

  it("gives it a younger id than the last one has, also where the clock is behind", () => {
    const hold = aHold({ id: holdId(2), state: "releasing" });
    expect(start(holdId(1), aRecord({ hold })).hold.id > holdId(2)).toBe(true);
  });
});

describe("a hold for launches", () => {
  it("is unjoined until a node has joined; one without launches never is", () => {
    const holds = [aHold({ burstFrom: noon }), aHold({ burstFrom: noon, joined: true }), aHold()];
    expect(holds.map(isUnjoined)).toEqual([true, false, false]);
  });

  it("lasts from then on as long as launches have asked for, and no longer than its cap", () => {
    const join = (maxHold: number) =>
      joinedHold(aHold({ askedUntil: at(30) }), someRules({ maxHold: minutes(maxHold) }));
    expect(join(60)).toEqual(aHold({ joined: true, expiresAt: at(30) }));
    expect(join(25)).toEqual(aHold({ joined: true, expiresAt: at(25), capped: true }));
    expect(joinedHold(aHold(), someRules())).toEqual(aHold({ joined: true }));
  });
});

it("gives a reason also for a hold whose record has none", () => {
  expect(pastOf("cluster", aHold(), at(20)).endedBecause).toBe("a new hold took its place");
});

it.each([
  ["the setting, without hold=auto", { hold: minutes(20), maxHold: hours(2) }, minutes(20)],
  ["the cap", { auto: true, maxHold: hours(2) }, hours(2)],
  ["a day, though the cap is longer", { auto: true, maxHold: hours(48) }, hours(24)],
  ["a day without a cap", { auto: true, maxHold: 0 }, hours(24)],
])("no hold lasts longer after a launch than %s", (_, rules, longest) => {
  expect(longestHold(someRules(rules))).toBe(longest);
});
