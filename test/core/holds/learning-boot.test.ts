import { describe, expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import { type BootFacts, bootsUntil, decideBoot, ofDemand } from "../../../lambda/core/holds/learning.ts";
import type { NodeClaim } from "../../../lambda/core/ports.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, someRules } from "../../support/builders.ts";

const at = (minute: number) => after(noon, minutes(minute));
const auto = { relaunchCost: minutes(10) };
const rules = someRules({ auto });
const claim = (about: Partial<NodeClaim> = {}): NodeClaim => ({ name: "a", createdAt: noon, ...about });

describe("a launch", () => {
  it.each([
    ["is not protected while it boots where the length is set", someRules(), 0],
    ["is protected for a minute at a time where use is read", rules, 3],
    ["is protected for five minutes at most", rules, 5, 4.5],
    [
      "is protected for five minutes at once where use is not read",
      { ...rules, extendOn: "launches" as const },
      5,
    ],
  ])("%s", (_, own, until, now = 2) => {
    expect(bootsUntil(noon, own, at(now))).toEqual(at(until));
  });
});

describe("a short hold that is due", () => {
  const hold = aHold({ expiresAt: at(1) });
  const decide = (about: Partial<BootFacts> = {}) =>
    decideBoot({
      record: aRecord({ hold }),
      holdId: hold.id,
      claims: [claim()],
      rules,
      now: at(1),
      ...about,
    });
  const until = (about: Partial<BootFacts>) => decide(about).record?.hold?.expiresAt;

  it("goes on for another minute while one of its nodes was never used", () => {
    const record = aRecord({ hold, lastLaunchAt: noon });
    expect(decide({ record })).toEqual({
      action: "extend",
      because: "its nodes have not been used yet",
      record: { ...record, hold: { ...hold, expiresAt: at(2) } },
    });
  });

  it("ends five minutes after its youngest unused node was created", () => {
    const claims = [
      claim({ createdAt: at(-2) }),
      claim(),
      claim({ createdAt: at(2), lastPodEventAt: at(3) }),
    ];
    expect(until({ claims, now: at(4.5) })).toEqual(at(5));
    const because = "no node of the hold is booting";
    expect(decide({ claims, now: at(5) })).toEqual({ action: "leave", because });
  });

  it("goes on for five minutes after its last launch where use cannot be read", () => {
    const record = aRecord({ hold, lastLaunchAt: at(-1) });
    expect(until({ record, claims: undefined })).toEqual(at(4));
    expect(decide({ claims: undefined }).action).toBe("leave");
  });

  it.each<[string, Partial<BootFacts>, string]>([
    ["it is over", { record: aRecord() }, "the hold is over"],
    ["another has taken its place", { holdId: holdId(2) }, "the hold is over"],
    [
      "it is being released",
      { record: aRecord({ hold: { ...hold, state: "releasing" } }) },
      "the hold is over",
    ],
    ["the length is set", { rules: someRules() }, "the hold is over"],
    ["it lasts as long already", { record: aRecord({ hold: aHold() }) }, "the hold already lasts as long"],
    [
      "it lasts just as long",
      { record: aRecord({ hold: aHold({ expiresAt: at(2) }) }) },
      "the hold already lasts as long",
    ],
    [
      "all of its nodes were used",
      { claims: [claim({ lastPodEventAt: noon })] },
      "no node of the hold is booting",
    ],
  ])("is left as it is where %s", (_, about, because) => {
    expect(decide(about)).toEqual({ action: "leave", because });
  });
});

it("replacements do not count as nodes of the hold; a NodeClaim without an instance does", () => {
  const claims = [claim({ instance: "i-1" }), claim({ instance: "i-2" }), claim()];
  const record = aRecord({ replacements: [{ instance: "i-1", launchedAt: noon }] });
  expect(ofDemand(claims, record)).toEqual(claims.slice(1));
  expect(ofDemand(claims, aRecord())).toEqual(claims);
});
