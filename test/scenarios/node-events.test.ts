import { expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import { Scenario } from "../../simulator/scenario.ts";

it("with hold=auto, a node's Events tell when it was held, let go and held again, and why", async () => {
  const world = new Scenario({ auto: true, nodeEvents: "true" });
  for (const name of ["a", "b"]) world.addNode(name);
  const annotations = { "karpenter.sh/do-not-disrupt": "true" };
  world.cluster.pods.add({ name: "work", node: "a", annotations });
  world.launch();
  await world.pass(minutes(20));
  await world.control({ do: "release", reason: "enough", force: true });

  const ofB = world.cluster.events
    .all()
    .map(Object)
    .filter((event) => event.involvedObject.name === "b");
  const paying = /^Held until 14:00Z, or until it no longer pays: /;
  expect(ofB.map(({ message }) => message)).toEqual([
    expect.stringMatching(paying),
    expect.stringMatching(/^Let go: superfluous for \d+m.*; its removal is worth 5m: 5m$/),
    expect.stringMatching(/: it was let go, and nobody took it$/),
    expect.stringMatching(/^Released: released by hand: enough/),
  ]);
  expect(ofB.map(({ reason }) => reason)).toEqual(["Held", "LetGo", "Held", "Released"]);
  expect(ofB.map(({ type, source, count }) => [type, source.component, count])).toEqual(
    Array.from({ length: 4 }, () => ["Normal", "karpenter-node-holder", 1]),
  );
});
