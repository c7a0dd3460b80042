import { dirname } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Figures, figuresOf } from "../../../lab/wall-clock/figures.ts";
import { playOnWallClock, type Trial } from "../../../lab/wall-clock/play.ts";
import { playInVirtualTime } from "../../../lab/wall-clock/virtual.ts";
import { processTable } from "../engines/process-table.ts";
import { until } from "../engines/processes.ts";
import { engineFolder } from "../runner/run-folder.ts";
import { Shell } from "../runner/shell.ts";

const [alone, native, hold] = ["consolidate-after-0s", "consolidate-after-100s", "hold-100s"] as const;

// Short traces on the wall clock check the direction of the figures, and on one of them the size of a ratio.
describe("the lab on the wall clock", () => {
  const shell = new Shell(engineFolder("churn"), {});
  const played = new Map<string, Figures>();
  const trials: Trial[] = [];
  const figures = (trace: string, arm: string) => {
    const found = played.get(`${trace} ${arm}`);
    if (!found) throw new Error(`${trace} was not played with ${arm}`);
    return found;
  };

  beforeAll(async () => {
    const play = (trace: string, share: number, ...arms: readonly string[]) =>
      arms.map(async (arm) => {
        const trial = { trace, arm, seed: 1, share };
        trials.push(trial);
        const record = await playOnWallClock(trial);
        played.set(`${trace} ${arm}`, figuresOf(record));
      });
    await Promise.all([
      ...play("dense", 0.42, alone, native, hold),
      ...play("vary", 0.6, native, hold),
      ...play("roll", 0.9, alone, hold),
    ]);
  }, 900_000);
  afterAll(() => shell.stop());

  it("the holder launches no more nodes on dense bursts than consolidateAfter", () => {
    const { launched } = figures("dense", hold);
    expect(launched).toBeGreaterThan(0);
    expect(launched).toBeLessThanOrEqual(figures("dense", native).launched + 1);
  });

  it("the holder evicts no more pods of services than Karpenter alone", () => {
    const without = figures("dense", alone).servicePodsEvicted;
    expect(figures("dense", hold).servicePodsEvicted).toBeLessThanOrEqual(without);
  });

  it("small pods after a large burst make the holder cost hardly more than consolidateAfter of the same length", () => {
    const [held, other] = [figures("vary", hold), figures("vary", native)];
    expect(held.launched).toBeGreaterThan(5);
    expect(held.nodeMinutes).toBeLessThanOrEqual(1.15 * other.nodeMinutes);
  });

  it("the holder hardly slows Karpenter's own replacement of drifted nodes", () => {
    const without = figures("roll", alone).driftDone;
    const held = figures("roll", hold).driftDone;
    if (without === undefined || held === undefined) throw new Error("not every node was replaced in time");
    expect(without).toBeGreaterThan(30);
    expect(held).toBeLessThanOrEqual(1.3 * without);
  });

  it("needs about the node time that the lab on a virtual clock counts of the same work with the same holder", async () => {
    for (const trial of trials.filter(({ trace, arm }) => trace !== "roll" && arm === hold)) {
      const { nodeMinutes } = await playInVirtualTime(trial, 1);
      const onWall = figures(trial.trace, trial.arm).nodeMinutes;
      // Other suites run beside this one: `node lab/wall-clock/agree.ts` compares six traces more closely.
      expect(Math.abs(nodeMinutes / onWall - 1), `${trial.trace}: ${onWall} : ${nodeMinutes}`).toBeLessThan(
        1 / 3,
      );
    }
  });

  it("npm start -- --real serves a live page of real Karpenter until Ctrl-C, and stops every engine", async () => {
    const show = shell.open("npm start -- --real");
    const url = await show.prints(/The live timeline: (\S+)/, 180_000);
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
