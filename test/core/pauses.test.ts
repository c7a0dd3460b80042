import { describe, expect, test } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { levels } from "../../lambda/core/pauses.ts";
import { type Account, lookAtNodes, mostNodes } from "../../lambda/core/pays.ts";
import type { Bound } from "../../lambda/core/room.ts";
import fc from "../support/fast-check.ts";
import { aBound, aRoom, noNeeds } from "./rooms.ts";

const noon = new Date("2026-11-21T12:00:00Z");
/** In minutes of a node. */
const eviction = 4;
/** A relaunch that is worth many looks: who never waits for it pays several times what a short pause costs. */
const dear = 20;

/** A pod for which a node is needed. */
const work = (node: string): Bound =>
  aBound(node, { requests: { cpu: 7_000 }, needs: { ...noNeeds, isUnknown: true } });

/**
 * A cluster in which a node is needed at one minute and superfluous at another: all that are missing are launched at once,
 * and what is let go is gone before the next minute. A superfluous node has so many pods that would move.
 */
class Cluster {
  #account: Account | undefined;
  #minute = 0;
  #names: string[] = ["node-0"];
  #launched = 0;
  /** How long each node beyond the needed ones has not been needed. */
  readonly #pauses: number[] = [];
  #pods: number;
  readonly relaunch: number;
  readonly words: string[] = [];
  cost = 0;
  least = 0;
  pauses = 0;

  constructor(pods: number, relaunch = 5) {
    this.#pods = pods;
    this.relaunch = relaunch;
  }

  get nodes(): number {
    return this.#names.length;
  }
  get price(): number {
    return this.relaunch + eviction * this.#pods;
  }

  /** One minute in which so many nodes are needed. */
  pass(needed: number): void {
    for (; this.#names.length < needed; this.#launched++) this.#names.push(`more-${this.#launched}`);
    this.#countPauses(needed);
    const nodes = this.#names.map((name) => aRoom(name));
    const pods = this.#names.flatMap((name, n) =>
      n < needed ? [work(name)] : Array<Bound>(this.#pods).fill(aBound(name, { requests: { cpu: 10 } })),
    );
    const now = after(noon, minutes(this.#minute++));
    const prices = { relaunchCost: minutes(this.relaunch), evictionCost: minutes(eviction) };
    const look = lookAtNodes(this.#account, nodes, pods, prices, now);
    this.#account = look.account;
    this.words.push(...look.verdicts.map(({ because }) => because));
    const gone = new Set(look.verdicts.flatMap(({ name, isLetGo }) => (isLetGo ? [name] : [])));
    this.#names = this.#names.filter((name) => !gone.has(name));
    this.cost += gone.size * this.price + this.#names.length - needed;
  }

  /** More nodes are needed for a minute, and not for so many after it, in which each has so many pods. */
  pause(length: number, needed = 2, pods = this.#pods): void {
    this.pass(needed);
    this.#pods = pods;
    for (let minute = 0; minute < length; minute++) this.pass(1);
  }

  /** The minutes until a node that is not needed is gone. */
  passUntilGone(most: number): number {
    let passed = 0;
    for (; passed < most && this.nodes > 1; passed++) this.pass(1);
    return passed;
  }

  /** How many nodes were superfluous at once. */
  get deepest(): number {
    return this.#pauses.length;
  }

  /** Ends all pauses, so that `least` is whole. */
  end(): void {
    this.pass(this.#pauses.length + 1);
  }

  #countPauses(needed: number): void {
    const most = Math.max(needed, this.#names.length, this.#pauses.length + 1);
    for (let n = 1; n < most; n++) {
      const length = this.#pauses[n - 1] ?? 0;
      this.#pauses[n - 1] = n >= needed ? length + 1 : 0;
      if (n >= needed || length === 0) continue;
      this.least += Math.min(length, this.price);
      this.pauses += 1;
    }
  }
}

/** Looks come once a minute, so each pause may cost a minute more. */
function expectBound(cluster: Cluster): void {
  cluster.end();
  const { cost, least, pauses, deepest, relaunch } = cluster;
  expect(cost).toBeLessThanOrEqual(4 * least + 3 * relaunch * Math.min(levels, deepest) + pauses);
}

const podCounts = fc.nat({ max: 4 });

describe("all pauses together cost at most four times the least, and three relaunches for each level", () => {
  test("where the need for nodes is random", () => {
    const lengths = fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 2 * dear }));
    const changes = fc.array(fc.tuple(fc.integer({ min: 1, max: 12 }), lengths), { maxLength: 60 });
    fc.assert(
      fc.property(podCounts, changes, (pods, all) => {
        const cluster = new Cluster(pods, dear);
        for (const [needed, length] of all) for (let n = 0; n < length; n++) cluster.pass(needed);
        expectBound(cluster);
      }),
      { numRuns: 60 },
    );
  });

  test("where a node is needed when it hurts most, or for what was learned before, with other pods in each pause", () => {
    const move = fc.constantFrom("when it goes", "soon", "late");
    const moves = fc.array(fc.tuple(move, fc.integer({ min: 1, max: 8 }), podCounts), { maxLength: 10 });
    fc.assert(
      fc.property(moves, (all) => {
        const cluster = new Cluster(0, dear);
        for (const [move, times, pods] of all)
          for (let n = 0; n < times; n++) {
            cluster.pause({ "when it goes": 0, soon: 1, late: dear + 5 }[move], 2, pods);
            if (move === "when it goes") cluster.passUntilGone(60);
          }
        expectBound(cluster);
      }),
      { numRuns: 60 },
    );
  });

  test("where long pauses teach not to wait, and then short ones follow, again and again", () => {
    const cluster = new Cluster(0, dear);
    const [long, short] = [dear + 5, 1];
    for (let round = 0; round < 50; round++)
      for (const length of [long, long, long, short, short, short, short]) cluster.pause(length);
    expectBound(cluster);
  });
});

test("a thousand nodes that are superfluous at once go at twice the least, and 200 of them a look", () => {
  const cluster = new Cluster(0);
  cluster.pass(1_000);
  for (let minute = 0; minute < 30; minute++) cluster.pass(1);
  expect(cluster.nodes).toBe(1);
  cluster.end();
  const looks = 1_000 / mostNodes;
  expect(cluster.cost).toBeLessThanOrEqual(2 * cluster.least + looks * cluster.pauses);
});

describe("a node that is rarely needed again within the time of its relaunch", () => {
  const long: readonly number[] = Array(6).fill(30);
  const taught = (pods: number, lengths = long): Cluster => {
    const cluster = new Cluster(pods);
    for (const length of lengths) cluster.pause(length);
    cluster.pass(2);
    cluster.words.length = 0;
    return cluster;
  };

  test("goes at the next look when it is empty", () => {
    const cluster = taught(0);
    expect(cluster.passUntilGone(30)).toBe(1);
    expect(cluster.words).toEqual([
      "superfluous for 0s; a relaunch is not waited for as long as nodes here are rarely needed again within 5m",
    ]);
  });

  test("waits for the eviction of its pods", () => {
    const cluster = taught(2);
    expect(cluster.passUntilGone(30)).toBe(9);
    expect(cluster.words.at(-1)).toBe(
      "superfluous for 8m; its removal is worth 8m: 2 pods; a relaunch is not waited for as long as nodes here are rarely needed again within 5m",
    );
  });

  test.each([
    ["again after some short pauses", [...long, ...Array(8).fill(1)]],
    ["where pauses are short", Array(6).fill(3)],
    ["where short and long pauses are as frequent", Array(20).fill([30, 1]).flat()],
  ])("waits %s", (_, lengths) => {
    expect(taught(0, lengths).passUntilGone(30)).toBe(6);
  });
});

test("of more than eight superfluous nodes the others always wait", () => {
  const cluster = new Cluster(0);
  for (let n = 0; n < 10; n++) cluster.pause(30, 13);
  cluster.pass(13);
  cluster.pass(1);
  expect(cluster.nodes).toBe(13 - levels);
  for (let minute = 0; minute < 5; minute++) cluster.pass(1);
  expect(cluster.nodes).toBe(1);
});
