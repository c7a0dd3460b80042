import { expect, it } from "vitest";
import { Timeline } from "../../local/holder/timeline.ts";
import { CloudStandIn } from "../../simulator/fake-ec2.ts";
import { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import { FastClock } from "../../simulator/virtual-clock.ts";

it("lets no instance keep a stopped world awake until it has booted", async () => {
  const clock = new FastClock(new Date("2026-01-01T00:00:00Z"));
  const now = () => clock.now();
  const cluster = await FakeKubernetesServer.start({ now });
  const cloud = new CloudStandIn({
    clock,
    cluster,
    karpenter: "v1",
    timeline: new Timeline(now),
    onEvent: () => {},
  });
  cloud.launch("first");
  await clock.runUntil(new Date("2026-01-01T00:01:00Z"));
  cloud.launch("second");
  cloud.close();
  await clock.runUntil(new Date("2026-01-01T00:05:00Z"));
  const nodes = cluster.nodes().length;
  await cluster.stop();
  expect(nodes).toBe(1);
});
