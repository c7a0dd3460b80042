import type { Rules } from "../../../lambda/core/rules.ts";
import { admits } from "../../../lambda/core/scope.ts";
import { nearestName } from "../../../lambda/spelling.ts";
import { allowedIn, hoursOf } from "../../advise/allowed.ts";
import type { NodePool } from "../../advise/objects.ts";
import type { Checks } from "../doctor.ts";
import { type Found, fewOf, orOk, warn } from "../finding.ts";

/** Where a hold is pointless, or costs more than it should, which only the caller's own kubeconfig shows. */
export const ofNodePools = {
  async nodepools({ findNodePools, clock, answers }) {
    const pools = await findNodePools?.();
    if (!pools || pools.length === 0) return [];
    const { rules } = await answers.control;
    const covered = pools.filter(({ metadata }) => admits(rules.nodePools, metadata.name));
    const misnamed = misnamedIn(rules, pools, covered.length);
    if (covered.length + misnamed.length === 0) return [];
    const wrong = [...misnamed, ...covered.map((pool) => troubleOf(pool, rules, clock.now()))];
    return orOk(wrong, `${covered.length}, Karpenter may consolidate each`);
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

/** A NodePool that is not there may be that of another cluster, for all of which the setting is the same; or it was renamed. */
function misnamedIn(
  { nodePools: { only, except } }: Pick<Rules, "nodePools">,
  pools: readonly NodePool[],
  covered: number,
): readonly Found[] {
  const names = pools.map(({ metadata }) => metadata.name);
  const named = [...only, ...except];
  const others = names.filter((name) => !named.includes(name));
  const misnamed = named.flatMap((name) => {
    const meant = names.includes(name) ? undefined : nearestName(name, others);
    const what = `nodePools names ${name}, and the cluster has no such NodePool`;
    return meant ? warn(what, `Did you mean ${meant}? Then correct it, and deploy again.`) : [];
  });
  if (misnamed.length > 0 || covered > 0 || only.length === 0) return misnamed;
  return [
    warn(`nodePools includes none of ${fewOf(names)}: nothing is held`, "Correct it, and deploy again."),
  ];
}

/** Whatever is held, Karpenter takes nodes in the coming week: those with pods at some time, and empty ones at any. */
function troubleOf(pool: NodePool, { auto }: Pick<Rules, "auto">, now: Date): Found | false {
  const { name } = pool.metadata;
  const [empty, inUse] = allowedIn(pool, now);
  if (!inUse?.open.includes(true)) {
    const why = inUse?.never ?? "its budgets allow it at no time";
    const so = auto ? "hold=auto lets nodes go that it does not take" : "a hold spares no pod";
    return warn(
      `Karpenter consolidates no node in use of NodePool ${name}, and ${so}: ${why}`,
      `If that is meant, leave it out with nodePools=!${name}; \`npx karpenter-node-holder advise\` shows what it allows, and when.`,
    );
  }
  // Empty nodes wait for a window, too, and are held again in most of them.
  const isClosed = inUse.open.map((isOpen, minute) => !isOpen && !empty?.open[minute]);
  const hoursClosed = Math.ceil(hoursOf(isClosed));
  if (!auto || hoursClosed === 0) return false;
  return warn(
    `the budgets of NodePool ${name} close consolidation in ${hoursClosed} of the coming 168 hours: ` +
      "what hold=auto lets go is marked again after ten minutes and left alone for an hour",
    'So that empty nodes may go, leave Empty out of the reasons of its budgets of "0"; one without reasons is for all.',
  );
}
