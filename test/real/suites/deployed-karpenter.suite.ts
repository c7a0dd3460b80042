import type { V1Node } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { DeployedCluster } from "../deployed/cluster.ts";
import { karpentersTags } from "../deployed/instances.ts";
import { DeployedWorld } from "../deployed/world.ts";
import { bridgeToEc2 } from "../emulator/ec2-bridge.ts";
import { until } from "../engines/processes.ts";
import { World } from "../worlds/world.ts";

const { annotation, poolLabel } = Karpenter.v1;
const timeLeft = (at: number) => at - Date.now();

/*
Differences from AWS, in addition to those in deployed.suite.ts:
- Karpenter's kwok provider makes the nodes, five seconds after their launch (AWS: half a minute to a minute).
- Their instances are launched and terminated by a bridge (ec2-bridge.ts), which also writes the instances' ids into the
  provider ids of NodeClaims and Nodes, and keeps Karpenter's garbage collection from nodes that have just joined.
- Instances carry the tags of their launch; those that Karpenter adds once a node is registered, they do not.
*/
describe("the deployed holder and real Karpenter", () => {
  let account: DeployedWorld;
  let prod: DeployedCluster;
  let world: World;
  let endBridge: () => Promise<void>;

  beforeAll(async () => {
    account = await DeployedWorld.start();
    // Hourly, so that no sweep does the work of the events.
    prod = await account.cluster("prod", { hold: "2m", sweepEvery: "1h" });
    world = await World.on(prod.plane, process.env.KARPENTER_VERSION);
    endBridge = await bridgeToEc2(world, {
      launch: (nodePool) => prod.launch(karpentersTags(prod.name, nodePool)),
      terminate: (instance) => prod.instances.terminate(instance),
    });
    // Only newer kwok providers can delay nodes.
    const joinsAfter = process.env.KARPENTER_VERSION?.startsWith("1.0.") ? undefined : "5s";
    for (const name of ["default", "other"]) await world.pool({ name, joinsAfter });
    await world.pool({ name: "users", joinsAfter, annotations: { [annotation]: "true" } });
  });
  afterAll(async () => {
    await endBridge?.();
    await account?.stop();
  });

  it("a launch of Karpenter holds all nodes, the next one extends the hold, its one-shot ends it, and Karpenter consolidates", async () => {
    await world.scale("users", { replicas: 1, pool: "users" });
    await world.scale("work", { replicas: 3, spread: true, pool: "default" });
    const first = await world.untilReady(4);
    const surplus = await of("default");
    const [users = ""] = await of("users");
    const holdId = await prod.untilMarked(surplus);
    expect(await scope()).toMatchObject({ state: "held", isAwaiting: false });
    const end = await expiry();
    const [oneShot] = await prod.schedules(holdId);

    await world.scale("work", { replicas: 0, spread: true, pool: "default" });
    await world.scale("users", { replicas: 0, pool: "users" });
    await world.stays(first, timeLeft(end) - 60_000);
    await world.scale("more", { replicas: 1, pool: "other" });
    const all = await world.untilReady(5);
    const [other = ""] = await of("other");
    expect(await prod.untilMarked([...surplus, other])).toBe(holdId);
    const later = await expiry();
    expect(later - end).toBeGreaterThan(10_000);
    await world.stays(all, timeLeft(later) - 3_000);
    expect(Object.keys(await prod.marks()).sort()).toEqual([...surplus, other].sort());
    expect(oneShot).toBeDefined();
    expect(await prod.schedules(holdId)).not.toContain(oneShot);

    // A one-shot is set at least a minute ahead.
    await prod.untilReleased();
    expect(await world.untilReady(2)).toEqual([other, users].sort());
    expect(await prod.marks()).toEqual({});
    await until("their instances to be terminated", async () => (await prod.instances.ids()).length === 2);
    expect((await prod.control({ do: "history", limit: 1 })).holds).toMatchObject([{ id: holdId }]);
  });

  const of = async (pool: string): Promise<string[]> =>
    (await world.nodes()).filter(isOf(pool)).map(({ metadata }) => metadata?.name ?? "");

  const scope = async (): Promise<Readonly<Record<string, unknown>>> => {
    const { scopes } = await prod.control({ do: "status" });
    return Array.isArray(scopes) ? scopes[0] : {};
  };
  const expiry = async () => Date.parse(String((await scope()).until));
});

const isOf =
  (pool: string) =>
  ({ metadata }: V1Node) =>
    metadata?.labels?.[poolLabel] === pool;
