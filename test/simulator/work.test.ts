import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { FakeEc2 } from "../../simulator/fake-ec2.ts";
import { FakeCluster } from "../../simulator/fake-kubernetes/fake-cluster.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import { Work } from "../../simulator/work.ts";

const { annotation } = Karpenter.v1;

describe("jobs on their nodes", () => {
  let clock: VirtualClock;
  let cluster: FakeCluster;
  let work: Work;
  let said: string[];
  beforeEach(() => {
    clock = new VirtualClock();
    cluster = new FakeCluster(() => clock.now());
    said = [];
    const ec2 = new FakeEc2({ clock, cluster, karpenter: "v1", send: () => {} });
    const [boot, consolidateAfter] = [seconds(10), seconds(30)];
    const nameOf = (count: number) => `n${count}`;
    const notify = (text: string) => void said.push(text);
    work = new Work({ clock, ec2, cluster, annotation, nameOf, boot, consolidateAfter, notify });
    work.burst(2, minutes(1));
  });
  afterEach(() => work.stop());

  const pass = (duration: number) => clock.runUntil(after(clock.now(), duration));
  const nodes = () => cluster.nodes().map(({ metadata }) => metadata.name);
  const annotate = (value: string | null) => cluster.editNode("n1", { annotations: { [annotation]: value } });

  it("launch a node each, which goes half a minute after its job is done", async () => {
    await pass(seconds(99));
    expect(nodes()).toEqual(["n1", "n2"]);
    await pass(seconds(1));
    expect(nodes()).toEqual([]);
    expect(work.launched).toBe(2);
    expect(said).toEqual([
      "2 jobs start: 2 nodes are missing",
      "the job on n1 is done",
      "the job on n2 is done",
    ]);
  });

  it("find empty nodes, and launch only what is missing", async () => {
    await pass(seconds(80));
    work.burst(3, minutes(1));
    expect(work.launched).toBe(3);
    expect(said.at(-1)).toBe("3 jobs start on n1, n2: a node is missing");
    await pass(seconds(40));
    expect(nodes()).toEqual(["n1", "n2", "n3"]);
  });

  it("leave a node that is kept as long as it has the annotation", async () => {
    await pass(seconds(20));
    annotate("true");
    await pass(minutes(10));
    expect(nodes()).toEqual(["n1"]);
    annotate(null);
    await pass(seconds(10));
    expect(nodes()).toEqual([]);
    expect(clock.now()).toEqual(after(noon, seconds(630)));
  });
});
