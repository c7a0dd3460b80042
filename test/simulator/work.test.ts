import { beforeEach, expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { FakeEc2 } from "../../simulator/fake-ec2.ts";
import { FakeCluster } from "../../simulator/fake-kubernetes/fake-cluster.ts";
import { VirtualClock } from "../../simulator/virtual-clock.ts";
import { Work } from "../../simulator/work.ts";

const annotation = "keep";
const web = { name: "web", cpu: 1_900 };

let clock: VirtualClock;
let cluster: FakeCluster;
let work: Work;
let notes: string[];

beforeEach(() => {
  clock = new VirtualClock();
  cluster = new FakeCluster(() => clock.now());
  notes = [];
  const ec2 = new FakeEc2({ clock, cluster, karpenter: "v1", send: () => {} });
  const [boot, consolidateAfter] = [seconds(10), minutes(1)];
  const [nameOf, notify] = [(count: number) => `n${count}`, (text: string) => void notes.push(text)];
  work = new Work({ clock, ec2, cluster, annotation, nameOf, boot, consolidateAfter, notify });
  for (const name of ["a", "b", "theirs"]) ec2.addNode(name);
});

const pass = (duration: number) => clock.runUntil(new Date(clock.now().getTime() + duration));
const nodes = () => cluster.nodes().map(({ metadata }) => metadata.name);
const podsOn = (name: string) => cluster.pods.all().filter(({ spec }) => Object(spec).nodeName === name);

it("a job takes an empty node, and never one with another job", async () => {
  const launchedWith = async (jobs: number, at: number) => {
    await pass(at);
    work.burst(jobs, minutes(1));
    return work.counts.launched;
  };
  expect(await launchedWith(2, 0)).toBe(2);
  expect(await launchedWith(1, seconds(30))).toBe(3);
  expect(await launchedWith(2, seconds(45))).toBe(3);
});

it("Karpenter removes empty nodes, but for those on which no work was ever placed", async () => {
  work.burst(1, minutes(1));
  await pass(seconds(75));
  expect(nodes()).toEqual(["a", "b", "n1", "theirs"]);
  await pass(minutes(1));
  expect(nodes()).toEqual(["a", "b", "theirs"]);
});

it("Karpenter evicts the pods of the node that has the fewest, once they fit on others", async () => {
  work.place(web, "a", 2);
  work.place(web, "b", 3);
  await pass(minutes(5));
  expect([nodes().length, work.counts.evicted]).toEqual([3, 0]);

  work.scale(web, 4);
  await pass(minutes(2));
  expect(nodes()).toHaveLength(2);
  expect([work.counts.evicted, podsOn("a").length + podsOn("b").length]).toEqual([2, 4]);
  expect(notes.at(-1)).toMatch(/^Karpenter evicts 2 pods from [ab]$/);
});

it("Karpenter leaves a node that is annotated, and takes it soon after", async () => {
  cluster.editNode("a", { annotations: { [annotation]: "true" } });
  work.place(web, "a", 1);
  await pass(minutes(5));
  work.scale(web, 0);
  await pass(minutes(5));
  expect(nodes()).toContain("a");
  cluster.editNode("a", { annotations: { [annotation]: null } });
  await pass(seconds(10));
  expect(nodes()).not.toContain("a");
});

it("pods of a service that fit on no node share a new one", async () => {
  work.place(web, "a", 3);
  work.scale(web, 6);
  expect(work.counts.launched).toBe(1);
  await pass(seconds(10));
  expect([podsOn("a").length, podsOn("n1").length]).toEqual([4, 2]);
});

it("a job ends with its node, when a user deletes it", async () => {
  work.burst(1, minutes(1));
  await pass(seconds(20));
  cluster.removeNode("n1");
  await pass(minutes(2));
  expect([podsOn("n1"), notes.filter((note) => note.includes("done"))]).toEqual([[], []]);
});
