import { isIneffective, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { allowedIn } from "../../advise/allowed.ts";
import type { NodePool } from "../../advise/objects.ts";
import type { Check } from "../doctor.ts";
import { ifAny, orOk, warn } from "../finding.ts";
import { fewOf } from "./inside.ts";

const { annotation } = Karpenter.v1;

/** What the holder's users wrote in the cluster; NodePools and CapacityBuffers only with a kubeconfig of their own. */
export const ofNodePools: readonly Check[] = [
  {
    link: "nodepools",
    async find({ doctor, nodePools, answers }) {
      const pools = await nodePools;
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
  {
    link: "annotations",
    async find({ nodePools, answers }) {
      const { cluster } = await answers.control;
      if (!cluster.works || cluster.missingRights.includes("list nodes")) return [];
      const templates = ((await nodePools) ?? []).flatMap(({ metadata, spec: { template } }) => {
        const value = template.metadata.annotations?.[annotation];
        return isIneffective(annotation, value)
          ? [`the template of NodePool ${metadata.name} (${JSON.stringify(value)})`]
          : [];
      });
      const nodes = cluster.ineffective.map(({ node, value }) => `node ${node} (${JSON.stringify(value)})`);
      const useless = ifAny([...templates, ...nodes], (all) =>
        warn(`${annotation} protects nothing on ${fewOf(all)}`, onlyTrue),
      );
      return orOk(useless, "every one protects its node");
    },
  },
];

/** Why Karpenter takes no node with pods in the coming week, whatever is held. */
function whyNeverInUse(pool: NodePool, now: Date): string | undefined {
  const inUse = allowedIn(pool, now).find(({ reason }) => reason === "Underutilized");
  return inUse?.never ?? (inUse?.open.includes(true) ? undefined : "its budgets allow it at no time");
}

const onlyTrue =
  'Karpenter 1.0 and later accepts only "true" there (durations are for Pods), and the holder leaves such a node to ' +
  'its user: nothing protects it. Write "true", or remove the annotation.';
