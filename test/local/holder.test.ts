import { beforeEach, describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { readSettings } from "../../lambda/settings.ts";
import { Holder } from "../../local/holder/holder.ts";
import { Timeline } from "../../local/holder/timeline.ts";
import { FastClock } from "../../simulator/virtual-clock.ts";
import { CollectedLog, CollectedMetrics } from "../support/collected-log.ts";
import { CountedIds, holdId, noon } from "../support/fixed-clock.ts";
import { MemoryHolds } from "../support/memory-holds.ts";
import { MemoryLaunches } from "../support/memory-launches.ts";
import { MemoryNodeClaims } from "../support/memory-node-claims.ts";
import { MemoryNodes } from "../support/memory-nodes.ts";

const instance = "i-0123456789abcdef0";

describe("the holder in one process", () => {
  let clock: FastClock;
  let nodes: MemoryNodes;
  let holds: MemoryHolds;
  let launches: MemoryLaunches;
  let timeline: Timeline;
  let log: CollectedLog;

  beforeEach(() => {
    clock = new FastClock(noon);
    nodes = new MemoryNodes({ clock });
    holds = new MemoryHolds(clock);
    launches = new MemoryLaunches();
    timeline = new Timeline(() => clock.now());
    log = new CollectedLog();
  });

  const open = () => {
    const settings = readSettings({ cluster: "prod" });
    const ids = new CountedIds();
    const metrics = new CollectedMetrics();
    return new Holder({
      settings,
      clock,
      holds,
      journal: holds,
      nodes,
      nodeClaims: new MemoryNodeClaims(),
      launches,
      ids,
      log,
      metrics,
      timeline,
    });
  };
  const launch = (holder: Holder) => {
    launches.add(instance, clock.now(), "default");
    const detail = { "instance-id": instance, state: "pending" };
    holder.queue.send({ source: "aws.ec2", time: clock.now().toISOString(), detail });
  };
  const runUntil = (moment: number) => clock.runUntil(after(noon, moment));

  it("holds after a launch and releases when the time is over", async () => {
    nodes.add("a", { joinedAt: after(noon, -minutes(90)) });
    const holder = open();
    await holder.start();
    launch(holder);
    await runUntil(minutes(19));
    expect(nodes.heldBy(holdId(1))).toEqual(["a"]);
    await runUntil(minutes(21));
    expect(nodes.heldBy(holdId(1))).toEqual([]);
    const kinds = timeline.events.map(({ kind }) => kind).filter((kind) => kind !== "sweep");
    expect(kinds).toEqual(["hold started", "release armed", "release fired", "hold releasing", "hold ended"]);
  });

  it("arms again at its start what the process before it had armed", async () => {
    nodes.add("a", { joinedAt: after(noon, -minutes(90)) });
    const first = open();
    launch(first);
    await runUntil(minutes(7));
    await first.stop();

    await open().start();
    await runUntil(minutes(20) + seconds(1));
    expect(nodes.heldBy(holdId(1))).toEqual([]);
  });

  it("does nothing more once it is stopped", async () => {
    nodes.add("a", { joinedAt: after(noon, -minutes(90)) });
    const holder = open();
    await holder.start();
    launch(holder);
    await runUntil(minutes(1));
    await holder.stop();
    const told = timeline.events.length;
    launch(holder);
    await runUntil(minutes(120));
    expect(timeline.events).toHaveLength(told);
    expect(nodes.heldBy(holdId(1))).toEqual(["a"]);
  });

  it("sweeps on after a sweep that failed", async () => {
    holds.hooks = {
      before: (call) => {
        if (call === "all" && clock.now() < after(noon, minutes(5))) throw new Error("the database is away");
      },
    };
    await open().start();
    await runUntil(minutes(12));
    expect(log.told("a sweep failed: the next one makes up for it")).toHaveLength(1);
    expect(holds.sweptAt).toEqual(after(noon, minutes(10)));
  });

  it("leaves a release that failed to the next sweep", async () => {
    nodes.add("a", { joinedAt: after(noon, -minutes(90)) });
    const holder = open();
    await holder.start();
    launch(holder);
    await runUntil(minutes(19));
    holds.hooks = {
      before: (call) => {
        if (call === "find" && clock.now() < after(noon, minutes(21)))
          throw new Error("the database is away");
      },
    };
    await runUntil(minutes(24));
    expect(nodes.heldBy(holdId(1))).toEqual(["a"]);
    await runUntil(minutes(26));
    expect(nodes.heldBy(holdId(1))).toEqual([]);
  });
});
