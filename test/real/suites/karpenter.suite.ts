import { join } from "node:path";
import type { V1ObjectMeta } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { HolderProcess } from "../../support/holder-process.ts";
import { until } from "../engines/processes.ts";
import { applyRights } from "../worlds/holder-client.ts";
import { World } from "../worlds/world.ts";

const { annotation, poolLabel } = Karpenter.v1;
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
    const holder = await HolderRun.start(world, name, "--hold", "1m", "--release-on-exit", ...flags);
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

  it("loses no node during a hold, extends it with a later launch, and Karpenter removes all nodes within a minute after it", async () => {
    await world.pool({ name: "other" });
    const holder = await start("extended");
    await world.scale("work", { replicas: 3, spread: true, pool: "default" });
    const surplus = await world.untilReady(3);
    await untilHeld(surplus);
    await until("its launches to be decided", async () => holder.decided().size >= 3);
    const [before, first] = [holder.decided().size, holder.expiresAt()];
    await world.scale("work", { replicas: 0, spread: true, pool: "default" });

    await world.stays(surplus, 20_000);
    await world.scale("more", { replicas: 1, pool: "other" });
    await until("the launch to be decided", async () => holder.decided().size > before);
    expect(holder.expiresAt()).toBeGreaterThan(first);
    await world.stays(surplus, timeLeft(holder.expiresAt()) - 1_000);

    const [remains] = await world.untilReady(1);
    expect(surplus).not.toContain(remains);
    expect(await marked()).toEqual([]);
  });

  it("with scope nodepool, holds only NodePools with launches", async () => {
    await world.pool({ name: "other" });
    // A pod that leaves a node counts as use and would extend these holds.
    const holder = await start("by-pool", "--scope", "nodepool", "--extend-on", "launches");
    await world.scale("more", { replicas: 2, spread: true, pool: "other" });
    const others = await world.untilReady(2);
    await untilHeld(others);
    await world.stays(others, timeLeft(holder.expiresAt()) - 15_000);

    await world.scale("work", { replicas: 2, spread: true, pool: "default" });
    await world.untilReady(4);
    const ours = await nodes(({ labels }) => labels?.[poolLabel] === "default");
    await untilHeld(ours);
    const end = holder.expiresAt();
    await world.scale("work", { replicas: 0, spread: true, pool: "default" });
    await world.scale("more", { replicas: 0, spread: true, pool: "other" });

    await until(
      "the other nodes to be removed",
      async () => (await world.names()).length === 2,
      timeLeft(end),
    );
    expect(await world.names()).toEqual(ours);
    await world.stays(ours, timeLeft(end) - 1_000);
  });

  it("starts no hold when Karpenter replaces drifted nodes, but holds for a pod that waits meanwhile", async () => {
    await world.scale("work", { replicas: 3, spread: true, pool: "default" });
    const drifted = await world.untilReady(3);
    const holder = await start("drift");
    // Until then the first launches are judged, too.
    await holder.process.until("hold closed");
    const judged = () => holder.process.logged("launch judged").filter(({ kind }) => kind !== "unknown yet");
    const before = judged().length;
    const since = () => judged().slice(before);

    await world.pool({ name: "default", labels: { rolled: String(Date.now()) } });
    const isRolled = async () => {
      const ready = await world.ready();
      return ready.length === 3 && drifted.every((name) => !ready.includes(name));
    };
    await until("all of them to be replaced", isRolled);
    const instances = () => new Set(since().flatMap((line) => line.instances));
    await until("their launches to be judged", async () => instances().size >= 3);
    expect(new Set(since().map(({ kind }) => kind))).toEqual(new Set(["replacement"]));
    expect(await marked()).toEqual([]);

    await world.pool({ name: "default", labels: { rolled: String(Date.now()) } });
    // Karpenter may launch a waiting pod's node together with a replacement, then that is no demand; the next pod's is.
    let replicas = 3;
    const isHeld = async () => {
      if ((await marked()).length > 0) return true;
      await world.scale("work", { replicas: ++replicas, spread: true, pool: "default" });
      return false;
    };
    await until("a hold for a pod that waits", isHeld, 240_000, 10_000);
  });

  it("lets drifted nodes go at looks while the hold goes on, and holds what replaces them", async () => {
    const holder = await start("drift-wait", "--hold", "4m", "--drift-wait", "20s");
    await world.scale("work", { replicas: 3, spread: true, pool: "default" });
    const drifting = await world.untilReady(3);
    await untilHeld(drifting);
    await world.pool({ name: "default", labels: { rolled: String(Date.now()) } });

    await holder.process.until("nodes let go");
    const letGo = () => holder.process.logged("nodes let go");
    expect(letGo()[0]).toMatchObject({ because: { drifted: 1 }, released: 1, failed: 0 });
    const isNew = (name: string) => !drifting.includes(name);
    await until("a drifted node to be replaced", async () => (await world.ready()).some(isNew));
    await untilHeld((await world.ready()).filter(isNew));
    const stayed = await nodes(({ name = "" }) => drifting.includes(name));
    expect(stayed.length).toBeGreaterThanOrEqual(drifting.length - letGo().length);
    expect(holder.process.logged("hold closed")).toEqual([]);
  });

  it("continues while the nodes of the burst are used, and ends one hold length after that", async () => {
    const holder = await start("used");
    await world.scale("work", { replicas: 1, pool: "default" });
    const [burst = ""] = await world.untilReady(1);
    await untilHeld([burst]);
    await world.scale("more", { replicas: 1, cpu: "10m", pool: "default" });

    await holder.process.until("use decided");
    expect(holder.process.logged("use decided")).toMatchObject([{ action: "extend" }]);
    const usedAt = Date.parse(String(holder.process.logged("use decided")[0]?.usedAt));
    await world.scale("more", { replicas: 0 });
    await world.stays([burst], timeLeft(usedAt + 60_000) - 2_000);
    await holder.process.until("hold closed");
    expect(await marked()).toEqual([]);
  });

  it("marks a burst of 30 new nodes before Karpenter disrupts one, and loses none, though it is killed in every phase", async () => {
    const holder = await start("killed");
    await world.scale("work", { replicas: 30, spread: true, pool: "default" });
    await holder.process.until("launch decided");
    await holder.crash(); // in the middle of marking

    const surplus = await world.untilReady(30);
    await untilHeld(surplus);
    const [users = ""] = surplus;
    await world.plane.kubectl(["label", "node", users, `${holdLabel}-`]); // now the annotation is the user's
    await world.scale("work", { replicas: 0, spread: true, pool: "default" });
    await holder.crash(); // in the middle of the hold
    const joined = (await world.nodes()).map(({ metadata }) => Number(metadata?.creationTimestamp));
    const end = Math.max(...joined) + 60_000;
    await world.stays(surplus, timeLeft(end) - 2_000);

    // Its nodes count as used when they join, so its first one-shot may only set the next.
    const isReleasing = async () =>
      holder.process.logged("release decided").some(({ action }) => action === "release");
    await until("its release", isReleasing, 240_000, 20);
    await holder.crash(); // in the middle of the release
    expect(await world.untilReady(1)).toEqual([users]);
    expect(await marked()).toEqual([]);
    expect(await nodes(({ annotations }) => annotations?.[annotation] === "true")).toEqual([users]);
  });

  it("continues after an outage of the API server, in the same process", async () => {
    const holder = await start("reconnected");
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

  /** When the hold expires, by the process's last decision. */
  expiresAt(): number {
    const decided = this.process
      .logged("launch decided")
      .map(({ expiresAt }) => Date.parse(String(expiresAt)));
    return Math.max(0, ...decided.filter((at) => !Number.isNaN(at)));
  }

  /** The instances whose launches the process has decided. */
  decided(): ReadonlySet<unknown> {
    return new Set(this.process.logged("launch decided").flatMap(({ instances }) => instances));
  }

  /** Starts it with its existing record; it is running when this returns. */
  async startAgain(): Promise<void> {
    this.#process = new HolderProcess(this.#flags);
    await this.#process.until("the holder is at work");
  }

  /** Kills it and starts it again. */
  async crash(): Promise<void> {
    await this.process.kill();
    await this.startAgain();
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }
}
