import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import { isAuto, type NodePoolFacts } from "../doctor.ts";
import { type Check, NotThere } from "../facts.ts";
import { ok, skipped, warn } from "../finding.ts";
import { namesOfNodes, unlisted } from "./inside.ts";

/** What Karpenter would not do anyway needs no hold, and what it cannot do a node that is let go waits for in vain. */
function whyPointless(
  { policy, consolidateAfter, budgets }: NodePoolFacts,
  isOfAuto: boolean,
): string | undefined {
  if (consolidateAfter === "Never") return "consolidateAfter is Never: Karpenter consolidates nothing there";
  const isClosed = budgets.some(
    ({ nodes, schedule, reasons }) =>
      /^0%?$/.test(nodes) && schedule === undefined && (!reasons || reasons.includes("Underutilized")),
  );
  if (isClosed) return "a budget of 0 without a schedule: Karpenter never consolidates nodes in use there";
  if (policy !== "WhenEmpty") return undefined;
  const so = isOfAuto ? "hold=auto lets nodes go that Karpenter does not take" : "it evicts no pod";
  return `consolidationPolicy is WhenEmpty: Karpenter takes empty nodes only, and ${so}`;
}

/** Whether the settings of NodePools leave the holder anything to do; only with a kubeconfig, which the functions have not. */
export const ofNodePools: readonly Check[] = [
  {
    link: "nodepools",
    async find({ nodePools, functions: { control } }) {
      const pools = await nodePools();
      if (!pools) return [];
      const reasons = pools.flatMap((pool) => {
        const why = whyPointless(pool, isAuto(control));
        return why ? [warn(`NodePool ${pool.name}: ${why}`, remedyFor(pool.name))] : [];
      });
      return reasons.length > 0 ? reasons : ok(`${pools.length}, Karpenter may consolidate each`);
    },
  },
  {
    link: "annotations",
    async find({ nodePools, answers }) {
      const { cluster } = (await answers.control()).inside;
      if (!cluster.works) throw new NotThere();
      const { annotation } = Karpenter.v1;
      const pools = (await nodePools()) ?? [];
      const templates = pools.flatMap(({ name, ineffective }) =>
        ineffective === undefined ? [] : [`the template of NodePool ${name} (${quoted(ineffective)})`],
      );
      const nodes = cluster.ineffective.map(({ node, value }) => `node ${node} (${quoted(value)})`);
      const all = [...templates, ...namesOfNodes(nodes)];
      if (all.length > 0) return warn(`${annotation} protects nothing on ${all.join(", ")}`, useless);
      return cluster.missingRights.includes("list nodes")
        ? skipped(unlisted)
        : ok("every one protects its node");
    },
  },
];

const remedyFor = (name: string): string =>
  `If that is meant, leave it out: nodePools=!${name}; otherwise consolidationPolicy: WhenEmptyOrUnderutilized, ` +
  "consolidateAfter: 30s, and a budget that is not 0.";

const useless =
  'Karpenter 1.0 and later accepts only "true" there (durations are for Pods), and the holder leaves such a node to ' +
  'its user: nothing protects it. Write "true", or remove the annotation.';

const quoted = (value: string): string => JSON.stringify(value);
