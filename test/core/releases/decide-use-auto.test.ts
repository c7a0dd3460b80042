import { describe, expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import type { Hold } from "../../../lambda/core/holds/hold.ts";
import type { NodeClaim } from "../../../lambda/core/ports.ts";
import { decideUse } from "../../../lambda/core/releases/decide-use.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, someRules } from "../../support/builders.ts";

const at = (minute: number) => after(noon, minutes(minute));
const usedAt = (minute: number): NodeClaim => ({
  name: "a",
  createdAt: noon,
  joinedAt: noon,
  lastPodEventAt: at(minute),
});
const boots = (since: number): NodeClaim => ({ name: "b", createdAt: at(since) });
const three = (minute: number) => [usedAt(minute), usedAt(minute), usedAt(minute)];

/** While nothing is learned, a hold lasts for as long as a relaunch is worth: here five minutes. */
const length = {
  length: minutes(5),
  action: "default",
  because: "nothing is learned yet, so for as long as one relaunch is worth",
};
const decide = (about: Partial<Hold>, claims: readonly NodeClaim[], now: number) =>
  decideUse({
    record: aRecord({ hold: aHold(about) }),
    holdId: holdId(1),
    claims,
    rules: someRules({ auto: true, relaunchCost: minutes(5) }),
    now: at(now),
  });

type Expected = Readonly<{
  end?: number;
  extensions?: number;
  causes?: object;
  action: string;
  because?: string;
}>;
const tooLong = "it no longer pays to keep half of its burst for so long";

describe("the end of a hold that learns", () => {
  it.each<[string, Partial<Hold>, readonly NodeClaim[], number, Expected]>([
    [
      "moves back to what the last use asks",
      {},
      [usedAt(2)],
      3,
      { action: "move", because: tooLong, end: 7 },
    ],
    ["moves back to what the launch asks", {}, [], 3, { action: "move", because: tooLong, end: 5 }],
    ["moves on for use", { expiresAt: at(4) }, [usedAt(2)], 3, { action: "extend", end: 7, extensions: 1 }],
    [
      "waits for nodes that boot, which is no extension",
      { expiresAt: at(10) },
      [usedAt(2), boots(9)],
      9.5,
      { action: "move", because: "its nodes boot", end: 14, extensions: 0, causes: { usedAt: at(2) } },
    ],
    [
      "waits for nodes that boot also where use asks for as long as before",
      { expiresAt: at(7) },
      [usedAt(2), boots(3)],
      3,
      { action: "move", because: "its nodes boot", end: 8, extensions: 0 },
    ],
    ["stays where it is due then", { expiresAt: at(7) }, [usedAt(2)], 3, { action: "leave" }],
    [
      "stays where a person asked for it",
      { causes: { hand: "a load test" } },
      [usedAt(2)],
      3,
      { action: "leave", because: "its burst is small, and all nodes were asked for" },
    ],
  ])("%s", (_, about, claims, now, { end, extensions, causes, ...expected }) => {
    const decision = decide(about, claims, now);
    expect(decision).toMatchObject({ ...expected, length });
    const { hold } = decision.record ?? {};
    if (end !== undefined) expect(hold).toMatchObject({ expiresAt: at(end), length });
    if (extensions !== undefined) expect(hold).toMatchObject({ extensions });
    if (causes !== undefined) expect(hold).toMatchObject({ causes: { launches: { default: 1 }, ...causes } });
  });

  it("keeps a small burst to its used nodes, and a large one no longer", () => {
    const narrowed = { narrowsAt: at(1) };
    expect(decide(narrowed, [usedAt(2)], 3).record?.hold).toMatchObject(narrowed);
    expect(decide({}, [usedAt(2)], 3).record?.hold).not.toHaveProperty("narrowsAt");
    expect(decide(narrowed, three(2), 3).record?.hold).not.toHaveProperty("narrowsAt");
  });

  it("counts each use once, from the latest", () => {
    const { record } = decide({ expiresAt: at(4), causes: { uses: 2, usedAt: at(3) } }, [usedAt(2.5)], 3.5);
    expect(record?.hold?.causes).toEqual({ uses: 3, usedAt: at(3) });
  });
});
