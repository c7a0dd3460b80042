import { join } from "node:path";
import type { V1ObjectMeta } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { commandLine } from "../../../cli/command-line.ts";
import { messageOf } from "../../../lambda/core/errors.ts";
import { holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { CollectedTerminal } from "../../support/collected-terminal.ts";
import { until } from "../engines/processes.ts";
import { applyRights } from "../worlds/holder-client.ts";
import { HolderProcess } from "../worlds/holder-process.ts";
import { World } from "../worlds/world.ts";

const { annotation } = Karpenter.v1;
const timeLeft = (at: number) => at - Date.now();

describe(`the holder on Karpenter ${process.env.KARPENTER_VERSION ?? "newest"}`, () => {
  let world: World;

  beforeAll(async () => {
    world = await World.start(process.env.KARPENTER_VERSION);
    // It consolidates at once.
    await world.pool({ name: "default" });
  });
  afterAll(async () => world?.stop());

  const start = async (name: string, ...flags: string[]): Promise<HolderRun> => {
    onTestFinished(async () => {
      for (const work of ["work", "more"]) await world.scale(work, { replicas: 0 });
      // Karpenter may remove a node meanwhile; one that keeps its annotation is waited for in vain.
      for (const name of await world.names()) await world.annotate(name, annotation, null).catch(() => {});
      await world.untilReady(0);
    });
    const holder = await HolderRun.start(world, name, "--release-on-exit", ...flags);
    onTestFinished(() => holder.stop());
    return holder;
  };
  const nodes = async (is: (metadata: V1ObjectMeta) => boolean) =>
    (await world.nodes())
      .map(({ metadata = {} }) => metadata)
      .filter(is)
      .map(({ name = "" }) => name)
      .toSorted();
  const marked = () => nodes(({ labels }) => Boolean(labels?.[holdLabel]));
  const untilHeld = async (names: readonly string[]) => {
    const isHeld = async () => {
      const found = new Set(await marked());
      return names.every((name) => found.has(name));
    };
    await until("all of them to be held", isHeld);
  };

  it("loses no node during a hold, extends it with a later launch, and Karpenter removes all nodes after it", async () => {
    await world.pool({ name: "other" });
    const holder = await start("extended", "--hold", "2m");
    await world.scale("work", { replicas: 3, spread: true, pool: "default" });
    const surplus = await world.untilReady(3);
    await untilHeld(surplus);
    const first = holder.until();
    await world.scale("work", { replicas: 0, spread: true, pool: "default" });

    await world.stays(surplus, 20_000);
    await world.scale("more", { replicas: 1, pool: "other" });
    await until("the launch to extend the hold", async () => holder.until() > first);
    await world.stays(surplus, timeLeft(holder.until()) - 1_000);

    const [remains] = await world.untilReady(1);
    expect(surplus).not.toContain(remains);
    expect(await marked()).toEqual([]);
  });

  it("lets a roll of drifted nodes go on while launches hold, and holds what replaces them", async () => {
    const holder = await start("drift", "--hold", "5m");
    await world.scale("work", { replicas: 3, spread: true, pool: "default" });
    const drifting = await world.untilReady(3);
    await untilHeld(drifting);
    await world.pool({ name: "default", labels: { rolled: String(Date.now()) } });

    const isRolled = async () => {
      const ready = await world.ready();
      return ready.length === 3 && drifting.every((name) => !ready.includes(name));
    };
    await until("all of them to be replaced", isRolled);
    await untilHeld(await world.ready());
    expect(holder.process.logged("hold closed")).toEqual([]);
  });

  it("holds drifted nodes for as long as driftWait says", async () => {
    await start("drift-wait", "--hold", "5m", "--drift-wait", "40s");
    await world.scale("work", { replicas: 2, spread: true, pool: "default" });
    const drifting = await world.untilReady(2);
    await untilHeld(drifting);
    await world.pool({ name: "default", labels: { rolled: String(Date.now()) } });

    await world.stays(drifting, 35_000);
    const isRolled = async () => (await world.ready()).every((name) => !drifting.includes(name));
    await until("all of them to be replaced", isRolled);
  });

  it("marks a burst of 30 new nodes before Karpenter disrupts one, and loses none, though it is killed in every phase", async () => {
    // On a busy machine nodes need their time to join; the operator ends it.
    const holder = await start("killed", "--hold", "20m");
    await world.scale("work", { replicas: 30, spread: true, pool: "default" });
    await holder.process.until("planned");
    await holder.crash(); // in the middle of marking

    const surplus = await world.untilReady(30);
    await untilHeld(surplus);
    const [users = ""] = surplus;
    await world.plane.kubectl(["label", "node", users, `${holdLabel}-`]); // now the annotation is the user's
    await world.scale("work", { replicas: 0, spread: true, pool: "default" });
    await holder.crash(); // in the middle of the hold
    await world.stays(surplus, 20_000);

    const released = holder.release();
    const isReleasing = async () => (await marked()).length < surplus.length - 1;
    // It may be too quick to be met in the middle.
    await until("its release", isReleasing, undefined, 20);
    await holder.crash();
    await released;
    expect(await world.untilReady(1)).toEqual([users]);
    expect(await marked()).toEqual([]);
    expect(await nodes(({ annotations }) => annotations?.[annotation] === "true")).toEqual([users]);
  });

  it("continues after an outage of the API server, in the same process", async () => {
    const holder = await start("reconnected", "--hold", "5m");
    const { pid } = holder.process;
    await world.scale("work", { replicas: 1, spread: true, pool: "default" });
    await untilHeld(await world.untilReady(1));

    await world.plane.stopApiServer();
    await holder.process.until("the watch broke and connects again");
    await world.plane.startApiServer();

    await world.scale("work", { replicas: 2, spread: true, pool: "default" });
    await untilHeld(await world.untilReady(2));
    expect(holder.process.pid).toBe(pid);
  });
});

/** The command `run` on a real cluster, as a user with only the rights of its manifest. */
class HolderRun {
  readonly #folder: string;
  readonly #flags: readonly string[];
  #process: HolderProcess | undefined;

  private constructor(world: World, name: string, flags: readonly string[]) {
    this.#folder = join(world.plane.folder, `record-of-${name}`);
    const kubeconfig = world.plane.kubeconfig("holder");
    this.#flags = ["--kubeconfig", kubeconfig, "--data", this.#folder, "--cluster", name, ...flags];
  }

  /** Applies the manifest and starts `run` with a new record. */
  static async start(world: World, name: string, ...flags: string[]): Promise<HolderRun> {
    await applyRights(world.plane, "run");
    const run = new HolderRun(world, name, flags);
    await run.startAgain();
    return run;
  }

  /** The running process, or the last one. */
  get process(): HolderProcess {
    if (!this.#process) throw new Error("the holder was never started");
    return this.#process;
  }

  /** Until when nodes are held, by what the process planned last. */
  until(): number {
    const planned = this.process.logged("planned").map(({ until }) => Date.parse(String(until)));
    return Math.max(0, ...planned.filter((at) => !Number.isNaN(at)));
  }

  /** Starts it with its existing record, and once more where the cluster was too busy to answer, as a Deployment would. */
  async startAgain(): Promise<void> {
    const isAtWork = async () => {
      const started = new HolderProcess(this.#flags);
      this.#process = started;
      const isReached = await started.until("the holder is at work").catch((error: unknown) => {
        if (!/cannot be reached/.test(messageOf(error))) throw error;
      });
      return isReached !== undefined;
    };
    await until("the holder to reach the cluster", isAtWork);
  }

  /** Kills it and starts it again. */
  async crash(): Promise<void> {
    await this.process.kill();
    await this.startAgain();
  }

  /** Releases everything as an operator; a process that is killed meanwhile answers nothing. */
  async release(): Promise<void> {
    await commandLine(["release", "--run", this.#folder, "--force"], new CollectedTerminal());
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }
}
