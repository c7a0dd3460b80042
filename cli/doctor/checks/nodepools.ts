import { allowedIn, isNone, reasons } from "../../advise/allowed.ts";
import type { NodePool } from "../../advise/objects.ts";
import type { Checks } from "../doctor.ts";
import { type Found, fewOf, orOk, warn } from "../finding.ts";

/** Where a hold is pointless, or costs more than it should, which only the caller's own kubeconfig shows. */
export const ofNodePools = {
  async nodepools({ findNodePools, clock, answers }) {
    const pools = await findNodePools?.();
    if (!pools) return [];
    const { rules } = await answers.control;
    const so = rules.auto ? "hold=auto lets nodes go that it does not take" : "a hold spares no pod";
    const now = clock.now();
    const wrong = pools.map((pool) => {
      const { name } = pool.metadata;
      const why = whyNeverInUse(pool, now);
      if (!why) return rules.auto && closedForTimes(pool, now);
      return warn(
        `Karpenter consolidates no node in use of NodePool ${name}, and ${so}: ${why}`,
        `If that is meant, leave it out with nodePools=!${name}; \`npx karpenter-node-holder advise\` shows what it allows, and when.`,
      );
    });
    return orOk(wrong, `${pools.length}, Karpenter may consolidate each`);
  },
  async buffers({ findCapacityBuffers }) {
    const buffers = (await findCapacityBuffers?.()) ?? [];
    if (buffers.length === 0) return [];
    return warn(
      `each launch that fills a CapacityBuffer holds nodes, although no pod waits for it: ${fewOf(buffers)}`,
      "To hold nothing for it, give it a NodePool of its own, and leave that out with nodePools.",
    );
  },
} satisfies Checks;

/** Why Karpenter takes no node with pods in the coming week, whatever is held. */
function whyNeverInUse(pool: NodePool, now: Date): string | undefined {
  const inUse = allowedIn(pool, now).find(({ reason }) => reason === "Underutilized");
  return inUse?.never ?? (inUse?.open.includes(true) ? undefined : "its budgets allow it at no time");
}

/** Empty nodes wait for a window, too, and are held again in most of them. */
function closedForTimes(pool: NodePool, now: Date): Found | false {
  const [empty, inUse] = allowedIn(pool, now);
  const closed = empty?.open.filter((isOpen, minute) => !isOpen && !inUse?.open[minute]) ?? [];
  const hoursClosed = Math.ceil(closed.length / 60);
  if (hoursClosed === 0) return false;
  const { name } = pool.metadata;
  const what =
    `the budgets of NodePool ${name} close consolidation in ${hoursClosed} of the coming 168 hours: ` +
    "what hold=auto lets go is marked again after ten minutes and left alone for an hour";
  const lines = pool.spec.disruption.budgets
    .filter(({ nodes, reasons: some }) => isNone(nodes) && (some ?? reasons).includes("Empty"))
    .map(({ schedule, reasons: some }) => {
      const others = (some ?? reasons).filter((one) => one !== "Empty");
      const budget = schedule ? `the budget with schedule "${schedule}"` : 'the budget nodes: "0"';
      return others.length > 0 ? `in ${budget} write reasons: [${others.join(", ")}]` : `remove ${budget}`;
    });
  return warn(what, `So that empty nodes may go: ${lines.join("; ")}`);
}
