import { expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { FakeEc2 } from "../../simulator/fake-ec2.ts";
import { FakeCluster } from "../../simulator/fake-kubernetes/fake-cluster.ts";
import { VirtualClock } from "../../simulator/virtual-clock.ts";
import { Work } from "../../simulator/work.ts";

it("a job takes an empty node, and never one with another job", async () => {
  const clock = new VirtualClock();
  const cluster = new FakeCluster(() => clock.now());
  const ec2 = new FakeEc2({ clock, cluster, karpenter: "v1", send: () => {} });
  const [boot, consolidateAfter, notify] = [seconds(10), minutes(1), () => {}];
  const nameOf = (count: number) => `n${count}`;
  const work = new Work({ clock, ec2, cluster, annotation: "", nameOf, boot, consolidateAfter, notify });
  const launchedWith = async (jobs: number, at: number) => {
    await clock.runUntil(new Date(clock.now().getTime() + at));
    work.burst(jobs, minutes(1));
    return work.launched;
  };
  expect(await launchedWith(2, 0)).toBe(2);
  expect(await launchedWith(1, seconds(30))).toBe(3);
  expect(await launchedWith(2, seconds(45))).toBe(3);
  work.stop();
});
