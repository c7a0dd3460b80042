import { isIneffective, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { allowedIn } from "../../advise/allowed.ts";
import type { NodePool } from "../../advise/objects.ts";
import { isAuto } from "../doctor.ts";
import { type Check, NotThere } from "../facts.ts";
import { ok, skipped, warn } from "../finding.ts";
import { namesOfNodes, unlisted } from "./inside.ts";

const { annotation } = Karpenter.v1;

/** Whether the NodePools leave the holder anything to do; only with a kubeconfig, because the functions may not read them. */
export const ofNodePools: readonly Check[] = [
  {
    link: "nodepools",
    async find({ doctor, nodePools, functions: { control } }) {
      const pools = await nodePools();
      if (!pools) return [];
      const pointless = pools.flatMap((pool) => {
        const why = whyNeverInUse(pool, doctor.clock.now());
        return why ? [{ name: pool.metadata.name, why }] : [];
      });
      if (pointless.length === 0) return ok(`${pools.length}, Karpenter may consolidate each`);
      const so = isAuto(control) ? "hold=auto lets nodes go that it does not take" : "a hold spares no pod";
      return pointless.map(({ name, why }) =>
        warn(`Karpenter consolidates no node in use of NodePool ${name}, and ${so}: ${why}`, leaveOut(name)),
      );
    },
  },
  {
    link: "annotations",
    async find({ nodePools, answers }) {
      const { cluster } = (await answers.control()).inside;
      if (!cluster.works) throw new NotThere();
      const templates = ((await nodePools()) ?? []).flatMap(({ metadata, spec: { template } }) => {
        const value = template.metadata.annotations?.[annotation];
        return isIneffective(annotation, value)
          ? [`the template of NodePool ${metadata.name} (${quoted(value)})`]
          : [];
      });
      const nodes = cluster.ineffective.map(({ node, value }) => `node ${node} (${quoted(value)})`);
      const all = [...templates, ...namesOfNodes(nodes)];
      if (all.length > 0) return warn(`${annotation} protects nothing on ${all.join(", ")}`, useless);
      return cluster.missingRights.includes("list nodes")
        ? skipped(unlisted)
        : ok("every one protects its node");
    },
  },
];

/** Why Karpenter takes no node with pods in the coming week, whatever is held. */
function whyNeverInUse(pool: NodePool, now: Date): string | undefined {
  const inUse = allowedIn(pool, now).find(({ reason }) => reason === "Underutilized");
  return inUse?.never ?? (inUse?.open.includes(true) ? undefined : "its budgets allow it at no time");
}

const leaveOut = (name: string): string =>
  `If that is meant, leave it out with nodePools=!${name}; \`npx karpenter-node-holder advise\` shows what it allows, and when.`;

const useless =
  'Karpenter 1.0 and later accepts only "true" there (durations are for Pods), and the holder leaves such a node to ' +
  'its user: nothing protects it. Write "true", or remove the annotation.';

const quoted = (value: string): string => JSON.stringify(value);
