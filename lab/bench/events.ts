import { setTimeout as pause } from "node:timers/promises";
import { minutes } from "../../lambda/core/duration.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { newestKarpenter } from "../../test/real/engines/build.ts";
import { World } from "../../test/real/worlds/world.ts";
import { type Bench, count, type Size } from "./figure.ts";

const sizes: Readonly<Record<Size, Readonly<{ nodes: number; minutes: number }>>> = {
  whole: { nodes: 30, minutes: 4 },
  quick: { nodes: 2, minutes: 0.5 },
};

/** What Karpenter writes because nodes are held. */
export const events: Bench = {
  name: "events",
  title: "Events of Karpenter about held nodes",
  seconds: 420,
  async run(size, advance) {
    const { nodes, minutes: long } = sizes[size];
    const world = await World.start();
    try {
      await world.pool({ name: "default" });
      await world.scale("work", { replicas: nodes, spread: true, cpu: "1" });
      const names = await world.untilReady(nodes);
      advance(0.3, "holding");
      await world.plane.kubectl(["annotate", "node", "--all", `${Karpenter.v1.annotation}=true`]);
      // So that Karpenter wants to remove every one of them.
      await world.scale("work", { replicas: 0, spread: true, cpu: "1" });
      await pause(minutes(Math.min(1, long)));
      const before = await blockedIn(world);
      advance(0.5, "counting");
      await pause(minutes(long));
      const blocked = (await blockedIn(world)) - before;
      return [
        {
          what: `\`DisruptionBlocked\` events for ${count(names.length)} held nodes, Karpenter ${newestKarpenter}`,
          value: `${(blocked / long).toFixed(0)} a minute`,
        },
      ];
    } finally {
      await world.stop();
    }
  },
};

/** How often Karpenter has reported nodes and their NodeClaims as blocked; the same again is counted in one object. */
async function blockedIn({ core }: World): Promise<number> {
  const { items } = await core.listEventForAllNamespaces();
  const isOfNode = (kind = "") => ["Node", "NodeClaim"].includes(kind);
  return items
    .filter(({ reason, involvedObject: { kind } }) => reason === "DisruptionBlocked" && isOfNode(kind))
    .reduce((sum, { count: times = 1 }) => sum + times, 0);
}
