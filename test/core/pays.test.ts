import { describe, expect, test } from "vitest";
import { after, type Duration, hours, minutes } from "../../lambda/core/duration.ts";
import { type Account, lookAtNodes, mostNodes } from "../../lambda/core/pays.ts";
import type { Bound, Room } from "../../lambda/core/room.ts";
import fc from "../support/fast-check.ts";
import { aBound, noNeeds, aRoom as room, waiting } from "./rooms.ts";

const noon = new Date("2026-11-21T12:00:00Z");
const prices = { relaunchCost: minutes(5), evictionCost: minutes(3) };

const pod = (node: string, cpu: number, change: Partial<Bound> = {}): Bound =>
  aBound(node, { requests: { cpu, memory: 1e9 }, ...change });
const both = [room("a"), room("b")];

const small = room("small", { allocatable: { cpu: 3_900, memory: 15e9, pods: 58 } });

/** Looks once a minute at nodes that do not change, and returns the minute in which each is let go. */
function letGoAfter(nodes: readonly Room[], pods: readonly Bound[], lasts: Duration): Record<string, number> {
  const found = new Map<string, number>();
  let account = waiting;
  for (let now = noon; now <= after(noon, lasts); now = after(now, minutes(1))) {
    const look = lookAtNodes(account, nodes, pods, prices, now);
    account = look.account;
    for (const { name, isLetGo } of look.verdicts)
      if (isLetGo && !found.has(name)) found.set(name, (now.getTime() - noon.getTime()) / minutes(1));
  }
  return Object.fromEntries(found);
}

describe("a superfluous node", () => {
  test("goes when it has been superfluous for as long as its removal is worth", () => {
    const pods = [...Array(6).fill(pod("a", 1_000)), ...Array(3).fill(pod("b", 500))];
    expect(letGoAfter(both, pods, hours(1))).toEqual({ b: 14 });
  });

  test("goes after the price of a relaunch when it is empty", () => {
    expect(letGoAfter(both, [pod("a", 7_000)], hours(1))).toEqual({ b: 5 });
  });

  test("goes at once when it is empty and nobody knows yet whether nodes here are needed again soon", () => {
    const { verdicts } = lookAtNodes(undefined, both, [pod("a", 7_000)], prices, noon);
    const because =
      "superfluous for 0s; a relaunch is not waited for as long as nodes here are rarely needed again within 5m";
    expect(verdicts).toEqual([{ name: "b", isLetGo: true, because }]);
  });

  test("goes whatever its name is: each object has a constructor, too", () => {
    const withJob = [pod("constructor", 3_000), pod("small", 3_000, { fixed: "a Job runs on it" })];
    const named = room("constructor");
    const wentOf = (nodes: readonly Room[], pods: readonly Bound[]) =>
      Object.entries(letGoAfter(nodes, pods, hours(1)));
    expect(wentOf([room("a"), named], [pod("a", 7_000)])).toEqual([["constructor", 5]]);
    expect(wentOf([named, small], withJob)).toEqual([["constructor", 16]]);
  });

  test("stays where its pods fit nowhere else", () => {
    const pods = [pod("a", 6_000), pod("b", 5_000)];
    expect(letGoAfter(both, pods, hours(3))).toEqual({});
  });

  test.each([
    ["a Job runs on it", { fixed: "a Job runs on it" }],
    ["its pod needs what is not known", { needs: { ...noNeeds, isUnknown: true } }],
  ])("stays where %s", (_, change) => {
    const pods = [pod("a", 6_000), pod("b", 5_000, change)];
    const large = room("a", { allocatable: { cpu: 16_000, memory: 64e9, pods: 58 } });
    expect(letGoAfter([large, room("b")], pods, hours(1))).not.toHaveProperty("b");
  });

  test("is not one that joined a moment ago: its pods may not be on it yet", () => {
    const pods = [pod("a", 7_000)];
    expect(letGoAfter([room("a"), room("b", { stays: true })], pods, hours(1))).not.toHaveProperty("b");
  });

  test("names its reason and its price", () => {
    const pods = [pod("a", 6_000), pod("b", 500)];
    const { account } = lookAtNodes(waiting, both, pods, prices, noon);
    const { verdicts } = lookAtNodes(account, both, pods, prices, after(noon, minutes(3)));
    const because = "superfluous for 3m; its removal is worth 8m: 5m and 1 pod";
    expect(verdicts).toEqual([{ name: "b", isLetGo: false, dueAt: after(noon, minutes(8)), because }]);
  });

  test("does not count DaemonSets as pods that move", () => {
    const daemon = pod("b", 500, { needsNoPlace: true });
    expect(letGoAfter(both, [pod("a", 7_500), daemon], hours(1))).toEqual({ b: 5 });
  });

  test("is not reset by small pods that wander between nodes", () => {
    let account = waiting;
    const goes: string[] = [];
    for (let i = 0; i < 20; i++) {
      const pods = [pod("a", 5_000), pod(i % 2 ? "b" : "c", 100)];
      const look = lookAtNodes(account, [...both, room("c")], pods, prices, after(noon, minutes(i)));
      account = look.account;
      goes.push(...look.verdicts.filter(({ isLetGo }) => isLetGo).map(() => `minute ${i}`));
    }
    expect(goes[0]).toBe("minute 5");
  });
});

test.each([
  ["each waits for its relaunch", waiting, { b: 5, c: 8 }, minutes(10)],
  // Nothing is known yet: the first goes at once, the other when its evictions are paid for.
  ["a relaunch is not waited for", undefined, { b: 0, c: 6 }, minutes(3)],
])("nodes that are gone cost nothing, and leave the others their time, where %s", (_, known, when, cost) => {
  let account: Account | undefined = known;
  let superfluous = 0;
  let nodes = [room("a"), room("b"), room("c")];
  const goes: Record<string, number> = {};
  for (let i = 0; i <= 12; i++) {
    const later = known ? [] : [pod("c", 100)];
    const pods = [pod("a", 7_500), ...(i < 3 ? [pod("c", 7_500)] : later)];
    const look = lookAtNodes(account, nodes, pods, prices, after(noon, minutes(i)));
    account = look.account;
    superfluous += look.since.superfluous;
    const gone = new Set(look.verdicts.flatMap(({ name, isLetGo }) => (isLetGo ? [name] : [])));
    for (const name of gone) goes[name] = i;
    nodes = nodes.filter(({ name }) => !gone.has(name));
  }
  expect([goes, superfluous]).toEqual([when, cost]);
});

test("a look by a clock that is behind counts nothing less than zero, and nothing twice", () => {
  const nodes = [room("a"), room("b"), small];
  const pods = [pod("a", 3_000), pod("small", 3_000, { fixed: "a Job runs on it" })];
  const first = lookAtNodes(waiting, nodes, pods, prices, noon);
  const behind = lookAtNodes(first.account, nodes, pods, prices, after(noon, -minutes(1)));
  expect(behind.since.superfluous).toBe(0);
  expect(Object.values(behind.account.wasted).every((time) => time >= 0)).toBe(true);
  expect(behind.account.at).toEqual(noon);
  expect(behind.verdicts.map(({ because }) => because)).toContain(
    "superfluous for 0s; its removal is worth 5m: 5m",
  );
  const pauses = lookAtNodes(behind.account, nodes, pods, prices, after(noon, minutes(6))).account.pauses;
  expect(pauses.learned[0]).toBe(minutes(5));
});

test("a node that nobody takes in ten minutes is marked again and left alone for an hour", () => {
  let account = waiting;
  const minutesLetGo: number[] = [];
  for (let i = 0; i <= 90; i++) {
    const look = lookAtNodes(account, both, [pod("a", 7_000)], prices, after(noon, minutes(i)));
    account = look.account;
    if (look.verdicts.some(({ isLetGo }) => isLetGo)) minutesLetGo.push(i);
  }
  expect([minutesLetGo[0], minutesLetGo[9], minutesLetGo[10]]).toEqual([5, 14, 80]);
});

test("a node that Karpenter may not take yet waits, costs nothing meanwhile, and has ten minutes from when it may", () => {
  let account = waiting;
  let superfluous = 0;
  const letGo = new Map<number, string>();
  for (let i = 0; i <= 60; i++) {
    const consolidatable = i < 30 ? "not yet" : { since: after(noon, minutes(30)) };
    const nodes = [room("a"), room("b", { consolidatable })];
    const look = lookAtNodes(account, nodes, [pod("a", 7_000)], prices, after(noon, minutes(i)));
    account = look.account;
    superfluous += look.since.superfluous;
    for (const { isLetGo, because } of look.verdicts) if (isLetGo) letGo.set(i, because);
  }
  expect(superfluous).toBe(minutes(6));
  expect([...letGo.keys()]).toEqual(Array.from({ length: 35 }, (_, i) => i + 5));
  expect(letGo.get(29)).toMatch(/; Karpenter waits for its consolidateAfter$/);
  expect(letGo.get(30)).not.toContain("consolidateAfter");
});

test("a node of twice the size that its pods need goes when it has wasted its price", () => {
  // A node of twice the size wastes half of its time: its price of 8 minutes takes 16.
  const pods = [pod("a", 3_000), pod("small", 3_000, { fixed: "a Job runs on it" })];
  expect(letGoAfter([room("a"), small], pods, hours(1))).toEqual({ a: 16 });
});

test("each node that is let go counts once, and stays so, and no more than 200 are at a time", () => {
  const named = (letter: string) => Array.from({ length: 250 }, (_, n) => `${letter}${n}`);
  // Their pods fit nowhere else, so they are too large alone.
  const pods = named("l").map((name) => pod(name, 400, { needs: { ...noNeeds, isUnknown: true } }));
  const nodes = [small, ...[...named("e"), ...named("l")].map((name) => room(name))];
  let account = waiting;
  let letGo = 0;
  for (let i = 0; i < 14; i++) {
    const look = lookAtNodes(account, nodes, pods, prices, after(noon, minutes(i)));
    account = look.account;
    letGo += look.since.letGo;
  }
  const names = Object.keys(account.letGo);
  expect([letGo, names.length]).toEqual([mostNodes, mostNodes]);
  const { verdicts } = lookAtNodes(account, nodes, pods, prices, after(noon, minutes(14)));
  const waitsFor = verdicts.filter(({ because }) => because.endsWith("; 200 nodes are let go at a time"));
  // 50 empty nodes and the small one; and of the large ones those whose wasted time there is room to remember.
  expect(waitsFor).toHaveLength(51 + mostNodes);
  expect(new Set(waitsFor.map(({ isLetGo, dueAt }) => `${isLetGo} ${dueAt?.toISOString()}`))).toEqual(
    new Set([`false ${after(noon, minutes(14)).toISOString()}`]),
  );
});

test("a node is never too large where Karpenter launches one size for its NodePool", () => {
  const pods = [pod("a", 3_000), pod("b", 7_000)];
  expect(letGoAfter(both, pods, hours(5))).toEqual({});
  const inPool = (one: Room, pool: string) => ({ ...one, labels: { "karpenter.sh/nodepool": pool } });
  const others = [pod("a", 3_000), pod("small", 3_000, { fixed: "a Job runs on it" })];
  expect(letGoAfter([inPool(room("a"), "large"), inPool(small, "small")], others, hours(5))).toEqual({});
  expect(letGoAfter([inPool(room("a"), "one"), inPool(small, "one")], others, hours(1))).toEqual({ a: 16 });
});

test("a node of the smallest size is never too large", () => {
  const smallest = room("a", { allocatable: { cpu: 1_930, memory: 7e9, pods: 29 } });
  expect(letGoAfter([smallest, small], [pod("a", 100), pod("small", 3_900)], hours(5))).toEqual({});
});

/**
 * One node, needed and not needed in turn: a stay costs its time, a removal its price. Who knows the future pays the
 * lesser of both for each pause. The rule pays at most twice as much, and a minute for each pause, because it looks once
 * a minute.
 */
test("waiting for the price never costs more than twice the least", () => {
  const pauses = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(pauses, (lengths) => {
      let [cost, least, now]: [number, number, Date] = [0, 0, noon];
      for (const length of lengths) {
        let account = waiting;
        let isGone = false;
        for (let minute = 0; minute < length && !isGone; minute++) {
          const look = lookAtNodes(account, both, [pod("a", 7_000)], prices, now);
          account = look.account;
          now = after(now, minutes(1));
          isGone = look.verdicts.some(({ isLetGo }) => isLetGo);
          cost += isGone ? 5 : 1;
        }
        least += Math.min(length, 5);
      }
      expect(cost).toBeLessThanOrEqual(2 * least + lengths.length);
    }),
  );
});
