import { expect, it } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { FakeEc2 } from "../../simulator/fake-ec2.ts";
import { FakeCluster } from "../../simulator/fake-kubernetes/fake-cluster.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";

it("lets no node join after it was closed", async () => {
  const clock = new VirtualClock();
  const cluster = new FakeCluster(() => clock.now());
  const ec2 = new FakeEc2({ clock, cluster, karpenter: "v1", send: () => {} });
  ec2.launch();
  await clock.runUntil(after(noon, minutes(1)));
  ec2.launch();
  ec2.close();
  await clock.runUntil(after(noon, minutes(5)));
  expect(cluster.nodes().map(({ metadata }) => metadata.name)).toEqual(["node-1"]);
});
