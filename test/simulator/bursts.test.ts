import { expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { readSettings } from "../../lambda/settings.ts";
import { answerCall } from "../../simulator/calls.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { FakeAccessObjects } from "../../simulator/fake-access-objects.ts";
import { FakeCluster } from "../../simulator/fake-kubernetes/fake-cluster.ts";
import { FakeNodeClaims } from "../../simulator/fake-node-claims.ts";
import { localWorld } from "../../simulator/local-world.ts";
import { Bursts } from "../../simulator/serve/bursts.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";

it("a burst holds all nodes, its later launches extend the hold, its jobs keep it, and all are free within two minutes", async () => {
  const clock = new VirtualClock();
  const nodeClaims = new FakeNodeClaims(clock);
  const cluster = new FakeCluster(() => clock.now());
  const settings = readSettings({ cluster: "burst", hold: "1m" });
  const stores = { cluster, nodeClaims, access: new FakeAccessObjects() };
  const api = { call: (call: Parameters<typeof answerCall>[1]) => answerCall(stores, call) };
  const world = localWorld({ settings, clock, log: new CollectedLog(), cluster, api });
  const bursts = new Bursts({ clock, ec2: world.ec2, nodeClaims, hold: minutes(1), notify: () => {} });
  try {
    world.ec2.addNode("old");
    await world.holder.start();
    bursts.begin();
    await clock.runUntil(after(noon, minutes(2)));

    const at = (moment: Date) => (moment.getTime() - noon.getTime()) / seconds(1);
    const course = world.timeline.events.flatMap((event) => {
      if (event.kind === "hold started" || event.kind === "hold extended")
        return [`until ${at(event.until)}`];
      return event.kind === "hold ended" ? [`ended at ${at(event.at)}`] : [];
    });
    expect(course).toEqual(["until 60", "until 75", "until 90", "until 100", "ended at 100"]);
    const released = world.timeline.events.filter(({ kind }) => kind === "node released");
    expect(released.map((event) => "node" in event && event.node).sort()).toEqual([
      "new-node-1",
      "new-node-2",
      "new-node-3",
      "old",
    ]);
  } finally {
    bursts.stop();
    await world.close();
  }
});
