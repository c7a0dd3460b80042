import { expect, it } from "vitest";
import { hours, minutes } from "../../lambda/core/duration.ts";
import { Scenario } from "../../simulator/scenario.ts";

/** Two old nodes, and a third that is launched; the pod on the first may not be moved. */
function aLaunch(
  pod: Readonly<{ annotations: Record<string, string> } | { owner: { apiVersion: string; kind: string } }>,
) {
  const world = new Scenario({ auto: true, nodeEvents: true });
  for (const name of ["a", "b"]) world.addNode(name);
  world.cluster.pods.add({ name: "work", node: "a", ...pod });
  world.launch();
  const about = (node: string) =>
    world.cluster.events
      .all()
      .map(Object)
      .filter((event) => event.involvedObject.name === node);
  return { world, about };
}

it("with hold=auto, a node's Events say when it was held, let go and held again, and why", async () => {
  const { world, about } = aLaunch({ annotations: { "karpenter.sh/do-not-disrupt": "true" } });
  await world.pass(minutes(20));
  await world.control({ do: "release", reason: "enough" });

  const paying = /^Held until 14:00Z, or until it no longer pays: /;
  expect(about("b").map(({ message }) => message)).toEqual([
    expect.stringMatching(paying),
    expect.stringMatching(/^Let go: superfluous for 0s; a relaunch is not waited for as long as /),
    expect.stringMatching(/: it was let go, and Karpenter did not take it$/),
    "Released: released by hand: enough",
  ]);
  expect(about("b").map(({ reason }) => reason)).toEqual(["Held", "LetGo", "Held", "Released"]);
  expect(about("b").map(({ type, source, count }) => [type, source.component, count])).toEqual(
    Array.from({ length: 4 }, () => ["Normal", "karpenter-node-holder", 1]),
  );
});

it("at the end of a hold, nodes without Jobs are released, and one with a Job when that is done", async () => {
  const { world, about } = aLaunch({ owner: { apiVersion: "batch/v1", kind: "Job" } });
  const last = (node: string) => about(node).at(-1)?.message;
  await world.pass(hours(2) + minutes(5));
  expect([last("a"), last("b")]).toEqual([
    expect.stringMatching(/^Held until 14:00Z/),
    "Released: the hold ends, and no Job runs on the node",
  ]);
  world.cluster.pods.remove("work");
  await world.pass(minutes(5));
  expect(last("a")).toMatch(/^Released: /);
});
