import { dirname } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Counted } from "../../../lab/wall-clock/agreement.ts";
import { figuresOf } from "../../../lab/wall-clock/figures.ts";
import { type Played, playOnWallClock, type Trial } from "../../../lab/wall-clock/play.ts";
import { asPlanned, compare, playInVirtualTime } from "../../../lab/wall-clock/virtual.ts";
import { forEachConcurrent } from "../../../lambda/kubernetes/for-each-concurrent.ts";
import { eventsOf } from "../../../report/timeline/events.ts";
import { processTable } from "../engines/process-table.ts";
import { patience, until } from "../engines/processes.ts";
import { engineFolder } from "../runner/run-folder.ts";
import { Shell } from "../runner/shell.ts";

const [alone, native, hold] = ["consolidate-after-0s", "consolidate-after-100s", "hold-100s"] as const;
/** A node goes when that pays, with two minutes for a relaunch and a sixth for an eviction; and Karpenter's own setting that waits as long. */
const [pays, nativePays] = ["auto-2m-10s", "consolidate-after-2m"] as const;

/** Short traces at lengths that show a whole hold. */
const trials: readonly Trial[] = [
  // These two are compared, so they run beside each other.
  { trace: "roll", arm: hold, seed: 1, share: 0.9 },
  { trace: "roll", arm: alone, seed: 1, share: 0.9 },
  // The longest early, because the last one is waited for.
  { trace: "shrink", arm: pays, seed: 1, share: 0.8 },
  { trace: "shrink", arm: hold, seed: 1, share: 0.6 },
  { trace: "single", arm: hold, seed: 1, share: 0.6 },
  { trace: "vary", arm: hold, seed: 1, share: 0.6 },
  // While it is held: what follows a hold's end is up to where Karpenter's loop stands.
  { trace: "rollout", arm: hold, seed: 1, share: 0.38 },
  { trace: "dense", arm: hold, seed: 1, share: 0.28 },
];
/** Each has an API server and a Karpenter of its own, which take a third of a core while they wait. */
const mostAtOnce = 4;
/**
 * Chance moves the wall clock, too: the scheduler gives a pod other room than Karpenter planned, and one node more is launched,
 * or pods move twice. So a figure differs where it does so in each of so many plays.
 */
const mostPlays = 3;
/** Plays in virtual time: other phases of Karpenter's loop and other boots decide what is launched and evicted. */
const chances = 20;

describe("the lab on the wall clock", () => {
  const shell = new Shell(engineFolder("churn"), {});
  const all = new Map<string, PlayedOnBoth>();
  const found = (trace: string, arm: string) => {
    const one = all.get(`${trace} ${arm}`);
    if (!one) throw new Error(`${trace} was not played with ${arm}`);
    return one;
  };
  const figures = (trace: string, arm: string) => figuresOf(found(trace, arm).played);

  beforeAll(async () => {
    await forEachConcurrent(trials, mostAtOnce, async (trial) => {
      all.set(`${trial.trace} ${trial.arm}`, await playOnBoth(trial));
    });
  }, 6 * patience);
  afterAll(() => shell.stop());

  it.each(trials)("agrees with the lab in virtual time on $trace with $arm", ({ trace, arm }) => {
    const { lines, differing } = found(trace, arm);
    expect(differing, lines.join("\n")).toEqual([]);
  });

  /**
   * The means of plays in virtual time, which the wall clock agrees with, and of the same work with a setting of Karpenter's
   * own: by chance a single play launches one node more or less, which is more than the two are apart.
   */
  const means = async (trace: string, arm: string, native: string) => {
    const planned = asPlanned(found(trace, arm).played);
    const meanWith = async (played: string) => meanOf(await playInVirtualTime(planned, chances, played));
    const [held, other] = [await meanWith(arm), await meanWith(native)];
    const line = JSON.stringify({ trace, [arm]: held, [native]: other });
    console.log(line);
    return { held, native: other, line };
  };

  it("the holder launches no more nodes on dense bursts than consolidateAfter", async () => {
    const { held, native: other, line } = await means("dense", hold, native);
    expect(held.launched).toBeGreaterThan(0);
    expect(held.launched, line).toBeLessThanOrEqual(other.launched + 0.5);
  });

  it("the holder evicts no pod of a service on dense bursts, where Karpenter alone does", async () => {
    const { native: other, line } = await means("dense", hold, alone);
    expect(figures("dense", hold).servicePodsEvicted).toBe(0);
    expect(other.evicted, line).toBeGreaterThan(0);
  });

  it("small pods after a large burst make the holder cost hardly more than consolidateAfter of the same length", async () => {
    const { held, native: other, line } = await means("vary", hold, native);
    expect(held.launched).toBeGreaterThan(5);
    expect(held.nodeMinutes, line).toBeLessThanOrEqual(1.15 * other.nodeMinutes);
  });

  it("with hold=auto no job is killed, and a node that nobody needs goes", () => {
    expect(figures("shrink", pays).jobsRestarted).toBe(0);
    // A constant hold outlasts the trace, so none would be gone.
    expect(eventsOf(found("shrink", pays).played.events, "node gone").length).toBeGreaterThan(0);
  });

  it("hold=auto launches no more, in hardly more node time, and costs hardly more than consolidateAfter of the price", async () => {
    const { held, native: other, line } = await means("shrink", pays, nativePays);
    expect(held.launched, line).toBeLessThanOrEqual(other.launched + 0.5);
    expect(held.nodeMinutes, line).toBeLessThanOrEqual(1.1 * other.nodeMinutes);
    // On this work small pods keep Karpenter alone from evicting any; when `auto` looks decides whether it evicts one node's.
    const cost = ({ nodeMinutes, launched, evicted }: typeof held) =>
      nodeMinutes + 2 * launched + evicted / 6;
    expect(cost(held), line).toBeLessThanOrEqual(1.1 * cost(other));
  });

  it("the holder hardly slows Karpenter's own replacement of drifted nodes", async () => {
    for (const arm of [alone, hold]) expect(figures("roll", arm).driftDone).toBeGreaterThan(30);
    // By chance one roll takes half as long again as another.
    const planned = asPlanned(found("roll", alone).played);
    const mean = async (arm: string) => {
      const plays = await playInVirtualTime(planned, 2 * chances, arm);
      const unfinished = (planned.to.getTime() - planned.from.getTime()) / 1_000;
      return plays.reduce((sum, { driftSeconds = unfinished }) => sum + driftSeconds / plays.length, 0);
    };
    const [without, held] = [await mean(alone), await mean(hold)];
    console.log(`roll: ${JSON.stringify({ [alone]: without, [hold]: held })}`);
    expect(held).toBeLessThanOrEqual(1.15 * without);
  });

  it("npm start -- --real serves a live page of real Karpenter until Ctrl-C, and stops every engine", async () => {
    const show = shell.open("npm start -- --real");
    const url = await show.prints(/The live timeline: (\S+)/);
    const kubeconfig = await show.prints(/export KUBECONFIG=(\S+)/);
    const engines = async () =>
      (await processTable()).filter(({ command }) => command.includes(dirname(kubeconfig)));

    expect(await (await fetch(url)).text()).toContain("A holder at work on real Karpenter");
    const nodes = `KUBECONFIG=${kubeconfig} kubectl get nodes -L karpenter-node-holder/hold`;
    await until("a held node", async () => /\d{8}t\d{6}/.test(await shell.run(nodes)));
    expect((await engines()).length).toBeGreaterThan(3);

    await show.interrupt();
    await expect(fetch(url)).rejects.toThrow();
    await until("every engine to stop", async () => (await engines()).length === 0);
  });
});

function meanOf(plays: readonly Counted[]) {
  const mean = (name: "nodeMinutes" | "launched" | "evicted") =>
    plays.reduce((sum, play) => sum + play[name] / plays.length, 0);
  return { nodeMinutes: mean("nodeMinutes"), launched: mean("launched"), evicted: mean("evicted") };
}

type PlayedOnBoth = Readonly<{
  /** On the wall clock, the first time: what must not happen must not happen then either. */
  played: Played;
  virtual: readonly Counted[];
  /** Of each play on the wall clock, its figures beside those in virtual time. */
  lines: readonly string[];
  /** What differed in each of them. */
  differing: readonly string[];
}>;

async function playOnBoth(trial: Trial, before?: PlayedOnBoth): Promise<PlayedOnBoth> {
  const played = await playOnWallClock(trial);
  const virtual = await playInVirtualTime(played, chances);
  const { line, differences } = compare(played, virtual);
  console.log(`${trial.trace}, ${trial.arm}: ${line}`);
  const differing = differences.filter((name) => before?.differing.includes(name) ?? true);
  const first = before ?? { played, virtual, lines: [] };
  const all = { ...first, lines: [...first.lines, line], differing };
  return differing.length > 0 && all.lines.length < mostPlays ? playOnBoth(trial, all) : all;
}
