import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Karpenter } from "../../lambda/adapters/keys.ts";
import { holderCases } from "./holder-cases.ts";
import { until } from "./processes.ts";
import { World } from "./world.ts";

const { annotation } = Karpenter.v1;

describe(`Karpenter ${process.env.KARPENTER_VERSION ?? "newest"}`, () => {
  let world: World;

  beforeAll(async () => {
    world = await World.start(process.env.KARPENTER_VERSION);
    await world.pool({ name: "default" });
  });
  afterAll(async () => world?.stop());

  it("takes surplus nodes away when nobody holds them, keeps annotated ones, and takes them once released", async () => {
    await world.scale("work", { replicas: 4 });
    await until(
      "four nodes",
      async () => (await world.ready()).length >= 1 && (await podsRun(world, 4)),
      120_000,
    );
    await world.scale("work", { replicas: 0 });
    await world.untilReady(0);

    await world.scale("work", { replicas: 4 });
    await until("pods to run again", () => podsRun(world, 4), 120_000);
    const held = await world.ready();
    for (const node of held) await world.annotate(node, annotation, "true");
    await world.scale("work", { replicas: 0 });
    await world.stays(held, 45_000);

    for (const node of held) await world.annotate(node, annotation, null);
    await world.untilReady(0, 60_000);
    expect(await world.names()).toEqual([]);
  });

  holderCases(() => world);
});

async function podsRun(world: World, count: number): Promise<boolean> {
  const { items } = await world.core.listNamespacedPod({ namespace: "default" });
  return items.filter((pod) => pod.status?.phase === "Running").length === count;
}
