import { describe, expect, test } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import type { Pause } from "../../lambda/core/pauses.ts";
import { type Account, lookAtNodes } from "../../lambda/core/pays.ts";
import type { Bound, Room } from "../../lambda/core/room.ts";
import { withPods } from "../../lambda/core/spared.ts";
import { aBound, noNeeds, aRoom as room } from "./rooms.ts";

const noon = new Date("2026-11-21T12:00:00Z");
const prices = { relaunchCost: minutes(5), evictionCost: minutes(3) };

const pod = (node: string, change: Partial<Bound> = {}): Bound =>
  aBound(node, { requests: { cpu: 10 }, ...change });
/** A pod for which a node is needed. */
const work = (node: string): Bound =>
  pod(node, { requests: { cpu: 7_000 }, needs: { ...noNeeds, isUnknown: true } });
const some = (node: string, count: number): readonly Bound[] =>
  Array.from({ length: count }, () => pod(node));

type Minute = Readonly<{ nodes: readonly (string | Room)[]; pods: readonly Bound[] }>;

/** What all looks together count, one a minute. */
function countedIn(...all: readonly Minute[]) {
  const sum = { spared: 0, evictionsSpared: 0 };
  let account: Account | undefined;
  for (const [minute, { nodes, pods }] of all.entries()) {
    const rooms = nodes.map((one) => (typeof one === "string" ? room(one) : one));
    const look = lookAtNodes(account, rooms, pods, prices, after(noon, minutes(minute)));
    account = look.account;
    sum.spared += look.since.spared;
    sum.evictionsSpared += look.since.evictionsSpared;
  }
  return sum;
}

const ab = ["a", "b"];
const [aWorks, bWorks] = [work("a"), work("b")];

describe("a superfluous node that is needed again spares the evictions", () => {
  test("of the pods that it had when it became superfluous", () => {
    const counted = countedIn(
      { nodes: ab, pods: [aWorks, bWorks] },
      { nodes: ab, pods: [aWorks, ...some("b", 4), pod("b", { needsNoPlace: true })] },
      { nodes: ab, pods: [aWorks, ...some("b", 2)] },
      { nodes: ab, pods: [aWorks, bWorks, ...some("b", 7)] },
    );
    expect(counted).toEqual({ spared: 1, evictionsSpared: 4 });
  });

  test("of no pod where it must stay because of one of them: Karpenter would not have taken it", () => {
    const fixed = pod("b", { fixed: "it has karpenter.sh/do-not-disrupt" });
    const counted = countedIn(
      { nodes: ab, pods: [aWorks, fixed, ...some("b", 3)] },
      { nodes: ab, pods: [aWorks, bWorks] },
    );
    expect(counted).toEqual({ spared: 1, evictionsSpared: 0 });
  });

  test("of no more pods than were on all superfluous nodes, whichever of them it is", () => {
    const abc = ["a", "b", "c"];
    const counted = countedIn(
      { nodes: abc, pods: [aWorks, ...some("b", 4), work("c")] },
      // The new pause is of the empty node, but the rule does not know which is of which.
      { nodes: abc, pods: [aWorks, ...some("b", 4)] },
      { nodes: abc, pods: [aWorks, ...some("b", 4), work("c")] },
    );
    expect(counted).toEqual({ spared: 1, evictionsSpared: 0 });
  });
});

describe("nothing is spared where a superfluous node", () => {
  const superfluous = { nodes: ab, pods: [aWorks, ...some("b", 2)] };

  test("goes though it was not let go", () => {
    expect(countedIn(superfluous, { nodes: ["a"], pods: [aWorks] })).toEqual({
      spared: 0,
      evictionsSpared: 0,
    });
  });

  test("is being removed", () => {
    const closed = { ...superfluous, nodes: ["a", room("b", { isOpen: false })] };
    expect(countedIn(superfluous, closed, { nodes: ["a"], pods: [aWorks] })).toEqual({
      ...{ spared: 0, evictionsSpared: 0 },
    });
  });

  test("is left alone because nobody took it", () => {
    const passes = Array.from({ length: 30 }, () => ({ nodes: ab, pods: [aWorks] }));
    expect(countedIn(...passes)).toEqual({ spared: 0, evictionsSpared: 0 });
  });

  test("was let go and another is launched for its pods", () => {
    const passes = Array.from({ length: 6 }, () => ({ nodes: ab, pods: [aWorks] }));
    const counted = countedIn(
      ...passes,
      { nodes: ["a"], pods: [aWorks] },
      { nodes: ["a", "c"], pods: [aWorks, work("c")] },
    );
    expect(counted).toEqual({ spared: 0, evictionsSpared: 0 });
  });
});

test("what an older version remembered spares nothing in the first look", () => {
  const nodes = [room("a"), room("b")];
  const { account } = lookAtNodes(undefined, nodes, [aWorks], prices, noon);
  const { needed: _, ...older } = account;
  const { since } = lookAtNodes(older, nodes, [aWorks, bWorks], prices, after(noon, minutes(1)));
  expect(since).toMatchObject({ spared: 0, evictionsSpared: 0 });
});

test("pauses that begin together share the pods of the superfluous nodes that no older pause has counted", () => {
  const began = (minute: number, pods?: number): Pause => ({
    ...{ since: after(noon, minutes(minute)), level: minute },
    ...(pods !== undefined && { pods }),
  });
  // The node of the first is gone; for the last there is none.
  const open = [began(0, 2), began(1, 3), began(2), began(3), began(4)];
  const superfluous = ["a", "b", "c"].map((name) => room(name));
  const podsOf = new Map([
    ["a", some("a", 1)],
    ["b", some("b", 3)],
    ["c", some("c", 3)],
  ]);
  const counted = withPods({ open, gone: 1, learned: [] }, superfluous, podsOf);
  expect(counted.open.map(({ pods }) => pods)).toEqual([2, 3, 3, 1, undefined]);
});
