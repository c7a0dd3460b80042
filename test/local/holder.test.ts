import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import { KubernetesPods } from "../../lambda/kubernetes/pods.ts";
import { readSettings } from "../../lambda/settings.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { FakeCluster } from "../../simulator/fake-kubernetes/fake-cluster.ts";
import { localWorld } from "../../simulator/local-world.ts";
import { MemoryTable } from "../../simulator/memory-table.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";

describe("the holder in one process", () => {
  let clock: VirtualClock;
  let cluster: FakeCluster;
  let table: MemoryTable;
  let log: CollectedLog;

  beforeEach(() => {
    clock = new VirtualClock();
    cluster = new FakeCluster(() => clock.now());
    table = new MemoryTable();
    log = new CollectedLog();
  });

  const open = () =>
    localWorld({ settings: readSettings({ cluster: "prod", hold: "20m" }), clock, log, cluster, table });
  const runUntil = (moment: number) => clock.runUntil(after(noon, moment));
  /** Until then this call of the record fails. */
  const failsUntil = (call: "all" | "put", moment: number) => {
    const spy = vi.spyOn(table, call).mockImplementation(() => {
      throw new Error("the record is away");
    });
    clock.at(after(noon, moment), () => spy.mockRestore());
  };
  const held = () =>
    cluster.nodes().flatMap((node) => {
      const { name, labels } = parseNode(node);
      return labels?.[holdLabel] ? [name] : [];
    });

  it("holds after a launch and releases when the time is over", async () => {
    const { holder, ec2, timeline } = open();
    ec2.addNode("a");
    await holder.start();
    ec2.launch({ joinsAfter: null });
    await runUntil(minutes(19));
    expect(held()).toEqual(["a"]);
    await runUntil(minutes(21));
    expect(held()).toEqual([]);
    const kinds = timeline.events.map(({ kind }) => kind).filter((kind) => /^hold /.test(kind));
    expect(kinds).toEqual(["hold started", "hold releasing", "hold ended"]);
    expect(timeline.events.filter(({ kind }) => kind === "sweep")).toHaveLength(5);
  });

  it("arms again at its start what the process before it had armed", async () => {
    const first = open();
    first.ec2.addNode("a");
    first.ec2.launch({ joinsAfter: null });
    await runUntil(minutes(7));
    await first.holder.stop();

    await open().holder.start();
    await runUntil(minutes(19));
    expect(held()).toEqual(["a"]);
    await runUntil(minutes(20) + seconds(1));
    expect(held()).toEqual([]);
  });

  it("does nothing more once it is stopped", async () => {
    const { holder, ec2 } = open();
    ec2.addNode("a");
    await holder.start();
    ec2.launch({ joinsAfter: null });
    await runUntil(minutes(1));
    await holder.stop();
    const lines = log.lines.length;
    ec2.launch({ joinsAfter: null });
    await holder.start();
    await runUntil(minutes(120));
    expect(log.lines).toHaveLength(lines);
    expect(held()).toEqual(["a"]);
  });

  it("sweeps on after a sweep that failed", async () => {
    failsUntil("all", minutes(5));
    const { holder, journal } = open();
    await holder.start();
    await runUntil(minutes(12));
    expect(log.reported("a sweep failed: the next one repairs it")).toHaveLength(1);
    expect(await journal.lastSweep()).toEqual(after(noon, minutes(10)));
  });

  it("finishes what is under way before it is stopped", async () => {
    const { holder } = open();
    const answer = Promise.withResolvers<never[]>();
    vi.spyOn(table, "find").mockReturnValueOnce(answer.promise as never);
    const asked = holder.ask({ do: "probe", id: "a" });
    let isStopped = false;
    const stopped = holder.stop().then(() => (isStopped = true));
    await new Promise(setImmediate);
    expect(isStopped).toBe(false);
    answer.resolve([]);
    await Promise.allSettled([asked, stopped]);
    expect(isStopped).toBe(true);
  });

  it("gives the pods a minute, half of it where a node may be taken meanwhile, and holds a launch meanwhile", async () => {
    const given: number[] = [];
    const list = vi.spyOn(KubernetesPods.prototype, "list").mockImplementation(async ({ deadline }) => {
      given.push(deadline.getTime() - clock.now().getTime());
      return [];
    });
    onTestFinished(() => list.mockRestore());
    const settings = readSettings({ cluster: "prod" });
    const { holder, ec2 } = localWorld({ settings, clock, log, cluster, table });
    ec2.addNode("a");
    await holder.start();
    const sweeping = Promise.withResolvers<[]>();
    list.mockImplementationOnce(() => sweeping.promise);
    const sweep = holder.sweep();
    ec2.launch({ joinsAfter: null });
    await runUntil(seconds(30));
    expect(held()).toEqual(["a"]);
    sweeping.resolve([]);
    await sweep;
    await runUntil(minutes(3));
    expect(given.length).toBeGreaterThan(2);
    expect(new Set(given)).toEqual(new Set([minutes(1), seconds(30)]));
  });

  it("marks at its start what was only observed before", async () => {
    const observing = readSettings({ cluster: "prod", hold: "20m", mode: "observe" });
    const first = localWorld({ settings: observing, clock, log, cluster, table });
    first.ec2.addNode("a");
    await first.holder.start();
    await first.holder.ask({ do: "hold", reason: "load test", for: "1h" });
    expect(held()).toEqual([]);
    await first.holder.stop();

    await open().holder.start();
    expect(held()).toEqual(["a"]);
  });

  it("leaves a release that failed to the next sweep", async () => {
    const { holder, ec2 } = open();
    ec2.addNode("a");
    await holder.start();
    ec2.launch({ joinsAfter: null });
    await runUntil(minutes(19));
    failsUntil("put", minutes(21));
    await runUntil(minutes(24));
    expect(held()).toEqual(["a"]);
    expect(log.reported("a release failed: the next sweep repairs it")).toHaveLength(1);
    await runUntil(minutes(26));
    expect(held()).toEqual([]);
  });
});
