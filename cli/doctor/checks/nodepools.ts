import { allowedIn } from "../../advise/allowed.ts";
import type { NodePool } from "../../advise/objects.ts";
import type { Check } from "../doctor.ts";
import { ifAny, orOk, warn } from "../finding.ts";
import { fewOf } from "./inside.ts";

/** Where a hold is pointless, which only the caller's own kubeconfig shows. */
export const ofNodePools: readonly Check[] = [
  {
    link: "nodepools",
    async find({ doctor, answers }) {
      const pools = await doctor.findNodePools?.();
      if (!pools) return [];
      const { rules } = await answers.control;
      const so = rules.auto ? "hold=auto lets nodes go that it does not take" : "a hold spares no pod";
      const pointless = pools.flatMap((pool) => {
        const why = whyNeverInUse(pool, doctor.clock.now());
        const { name } = pool.metadata;
        const what = `Karpenter consolidates no node in use of NodePool ${name}, and ${so}: ${why}`;
        const remedy = `If that is meant, leave it out with nodePools=!${name}; \`npx karpenter-node-holder advise\` shows what it allows, and when.`;
        return why ? [warn(what, remedy)] : [];
      });
      return orOk(pointless, `${pools.length}, Karpenter may consolidate each`);
    },
  },
  {
    link: "buffers",
    async find({ doctor }) {
      const remedy =
        "To hold nothing for it, give it a NodePool of its own, and leave that out with nodePools.";
      return ifAny((await doctor.findCapacityBuffers?.()) ?? [], (all) =>
        warn(
          `each launch that fills a CapacityBuffer holds nodes, although no pod waits for it: ${fewOf(all)}`,
          remedy,
        ),
      );
    },
  },
];

/** Why Karpenter takes no node with pods in the coming week, whatever is held. */
function whyNeverInUse(pool: NodePool, now: Date): string | undefined {
  const inUse = allowedIn(pool, now).find(({ reason }) => reason === "Underutilized");
  return inUse?.never ?? (inUse?.open.includes(true) ? undefined : "its budgets allow it at no time");
}
