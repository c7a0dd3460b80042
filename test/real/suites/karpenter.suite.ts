import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import { until } from "../engines/processes.ts";
import { holderCases } from "../worlds/holder-cases.ts";
import { World } from "../worlds/world.ts";

const { annotation } = Karpenter.v1;

describe(`Karpenter ${process.env.KARPENTER_VERSION ?? "newest"}`, () => {
  let world: World;

  beforeAll(async () => {
    world = await World.start(process.env.KARPENTER_VERSION);
    await world.pool({ name: "default" });
  });
  afterAll(async () => world?.stop());

  it("removes surplus nodes that are not held, keeps annotated nodes, and removes them once released", async () => {
    const free = await fourNodes();
    const began = performance.now();
    await work(1);
    const [busy = ""] = await world.untilReady(1);
    const whenFree = performance.now() - began;
    expect(free).toContain(busy); // the remaining pod stays on its node; the other three nodes are empty
    expect(await nodesOfPods()).toEqual([busy]);

    const held = await fourNodes();
    for (const node of held) await world.annotate(node, annotation, "true");
    await work(1);
    await world.stays(held, whenFree + 20_000);
    expect(await nodesOfPods()).toHaveLength(1);

    await work(0);
    for (const node of held) await world.annotate(node, annotation, null);
    expect(await world.untilReady(0, 60_000)).toEqual([]);
  });

  holderCases(() => world);

  /** Creates pods that each need a node of their own. */
  const work = (replicas: number) => world.scale("work", { replicas, spread: true });

  async function fourNodes(): Promise<readonly string[]> {
    await work(4);
    const nodes = await world.untilReady(4);
    await until("each to have its pod", async () => (await nodesOfPods()).join() === nodes.join());
    return nodes;
  }

  async function nodesOfPods(): Promise<readonly string[]> {
    const { items } = await world.core.listNamespacedPod({ namespace: "default" });
    const running = items.filter(
      ({ status, metadata }) => status?.phase === "Running" && !metadata?.deletionTimestamp,
    );
    return running.map(({ spec }) => spec?.nodeName ?? "").toSorted();
  }
});
