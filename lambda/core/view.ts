import { after, type Duration, earlier, formatDuration, later, minutes, seconds } from "./duration.ts";
import { seenKept } from "./figures.ts";
import { jobsEndWithin, lengthOf } from "./launches.ts";
import { longestBoot, podsAMinute } from "./looks.ts";
import { type Account, lookAtNodes, type Verdict } from "./pays.ts";
import { roomsOf, type ScopeView } from "./plan-nodes.ts";
import type { Launch, PassContext } from "./ports.ts";
import { isPossible } from "./quiet.ts";
import type { LaunchHold, ScopeRecord } from "./record.ts";
import type { Bound } from "./room.ts";
import { isOfRules, type Rules } from "./rules.ts";
import { admits, nodePoolOf, type Scope } from "./scope.ts";

/** The marks of nodes wait no longer for the NodeClaims, or for the answer whether pods may be listed. */
const claimsTime: Duration = seconds(10);
/** Tens of thousands of pods take half a minute, and are of no use without the NodeClaims, which come beside them. */
const podsTime: Duration = minutes(1);

/** Reads the nodes and NodeClaims of a scope, each once. */
export async function readView(
  context: PassContext,
  scope: Scope,
  isLook = false,
): Promise<ScopeView | Readonly<{ error: unknown }>> {
  const { rules, nodes, nodeClaims, clock, log } = context;
  const at = clock.now();
  // The changes of nodes need time, too.
  const half = (context.deadline.getTime() - at.getTime()) / 2;
  const deadline = after(at, Math.min(half, isLook && rules.auto ? podsTime : claimsTime));
  const inTime = { ...context, deadline };
  const reading = nodeClaims.list(scope, inTime).catch((error: unknown) => {
    log.warn("NodeClaims could not be read: drifted nodes are held, too", { scope, error });
    return { unavailable: "NodeClaims could not be read", isForNow: true } as const;
  });
  try {
    const [listed, claims, pods] = await Promise.all([
      nodes.list(scope, context),
      reading,
      readPods(inTime, isLook),
    ]);
    reportMissing(context, claims);
    reportMissing(context, pods);
    const isOurs = ({ nodePool }: Readonly<{ nodePool: string }>) => admits(rules.nodePools, nodePool);
    return {
      at,
      // A label that somebody wrote may name a NodePool that cannot be.
      nodes: listed.filter(isOurs),
      claims: "unavailable" in claims ? claims : claims.filter(isOurs),
      ...(pods && { pods }),
    };
  } catch (error) {
    return { error };
  }
}

/** What belongs to one scope of what was read for all. */
export function partOf(view: ScopeView, scope: Scope): ScopeView {
  const nodePool = nodePoolOf(scope);
  if (nodePool === undefined) return view;
  const isOwn = (one: Readonly<{ nodePool: string }>) => one.nodePool === nodePool;
  const { nodes, claims } = view;
  return {
    ...view,
    nodes: nodes.filter(isOwn),
    claims: "unavailable" in claims ? claims : claims.filter(isOwn),
  };
}

/** Only with `hold=auto`. A launch does not wait for thousands of pods: it only asks whether they may be listed. */
async function readPods(context: PassContext, isLook: boolean): Promise<ScopeView["pods"]> {
  const { rules, pods, log } = context;
  if (!rules.auto) return undefined;
  try {
    if (isLook) return await pods.list(context);
    const [unavailable] = await pods.limits(context);
    return unavailable === undefined ? "not read" : { unavailable, isMissingRight: true };
  } catch (error) {
    log.warn("pods could not be read: no other node is let go until the next look", { error });
    return "not read";
  }
}

/** Logs and counts a right that an admin of the cluster has not granted. */
function reportMissing({ log, metrics }: PassContext, read: ScopeView["claims"] | ScopeView["pods"]): void {
  if (!read || read === "not read" || !("unavailable" in read) || !read.isMissingRight) return;
  log.warn("the cluster has not given the holder all of its rights", { because: read.unavailable });
  metrics.add("RightsMissing", 1);
}

/**
 * Without the right to list pods or NodeClaims, launches hold with `hold=auto` as they do with a constant hold. A right that
 * is lost meanwhile, perhaps for a moment, ends no hold: nobody knows which of its nodes run Jobs. The next launch ends it
 * where that has been unknown for as long as Jobs may hold: else launches that never stop would hold every node for ever.
 */
export function rulesFor(
  rules: Rules,
  view: ScopeView | undefined,
  { launchHold: before, account, seen = {} }: Partial<ScopeRecord> = {},
  launches: readonly Launch[] = [],
): Rules {
  if (!rules.auto || !view) return rules;
  const { at, claims, pods } = view;
  const news = launches.filter(({ instance }) => seen[instance] === undefined);
  const isExtended = news.some(({ launchedAt }) => before && launchedAt > before.lastLaunchAt);
  if (before && !before.isConstant && !isExtended) return rules;
  const knownAt = before && later(before.startedAt, account?.at ?? before.startedAt);
  const isBlind = knownAt && after(knownAt, rules.maxHold + jobsEndWithin) <= at;
  const canLook =
    !("unavailable" in claims && !claims.isForNow) && (pods === "not read" ? !isBlind : Array.isArray(pods));
  return canLook ? rules : { ...rules, auto: false };
}

/** An account that a clock has written that was wrong would let nodes go, or leave them alone, until then: it counts as none. */
export function withPossibleAccount({ account, ...record }: ScopeRecord, now: Date): ScopeRecord {
  return { ...record, ...(account && isPossible(account.at, now) && { account }) };
}

/** The account of the nodes by now, and when to read the pods next: when a node is due, or any may have become superfluous. */
export function accountOf(
  view: ScopeView,
  record: Pick<ScopeRecord, "account"> & Readonly<{ launchHold?: LaunchHold | undefined }>,
  rules: Rules,
  now: Date,
) {
  if (!rules.auto || !view.pods) return {};
  const isUnknown = view.pods === "not read" || "unavailable" in view.pods || "unavailable" in view.claims;
  // A slow pass knows less than another one that has looked since: a Job may run by now on a node that was superfluous.
  const isOutdated = record.account !== undefined && record.account.at > view.at;
  // No other node is let go by a hold that ends.
  if (isUnknown || isOutdated || record.launchHold?.isEnding) return { nextReadAt: after(now, minutes(1)) };
  // What ran at that time is known, and not what has run since.
  const { at } = view;
  const rooms = roomsOf(view, rules, at);
  const { account, verdicts, since } = lookAtNodes(record.account, rooms, view.pods, rules, at);
  const period = minutes(Math.max(1, Math.ceil(view.pods.length / podsAMinute)));
  const dues = verdicts.flatMap(({ dueAt }) => dueAt ?? []);
  return {
    account,
    verdicts: shown(verdicts, account, at),
    // Nothing is held while it observes, so nothing is spared.
    since: rules.mode === "hold" ? since : undefined,
    nextReadAt: later(after(now, period / 2), dues.reduce(earlier, after(now, period))),
  };
}

const mostVerdicts = 20;

/** The nodes that no longer pay, the next to go first, and those that are left alone. */
function shown(verdicts: readonly Verdict[], { leftAlone }: Account, now: Date): readonly Verdict[] {
  const dueOf = ({ isLetGo, dueAt }: Verdict) =>
    isLetGo ? 0 : (dueAt?.getTime() ?? Number.MAX_SAFE_INTEGER);
  const named = new Set(verdicts.map(({ name }) => name));
  const alone = Object.entries(leftAlone)
    .filter(([name]) => !named.has(name))
    .map(([name, until]): Verdict => {
      const left = formatDuration(until.getTime() - now.getTime());
      return {
        name,
        isLetGo: false,
        because: `Karpenter did not take it: it is left alone for another ${left}`,
      };
    });
  return [...verdicts.toSorted((a, b) => dueOf(a) - dueOf(b)), ...alone].slice(0, mostVerdicts);
}

/** How many pods are on each node, without those that go with it; not of nodes that are being removed. */
export function podsByNode({ pods, claims, nodes }: ScopeView): ReadonlyMap<string, number> | undefined {
  if (!Array.isArray(pods)) return undefined;
  const open =
    "unavailable" in claims
      ? nodes.map(({ name }) => name)
      : claims.flatMap(({ node, room }) => (node && room?.isOpen ? [node] : []));
  const counts = new Map(open.map((name) => [name, 0]));
  for (const { node, needsNoPlace } of pods as readonly Bound[]) {
    const count = counts.get(node);
    if (count !== undefined && !needsNoPlace) counts.set(node, count + 1);
  }
  return counts;
}

type Facts = Readonly<{ isSweep: boolean; rules: Rules; now: Date }>;

/** The launches of a scope that the cluster shows: every NodeClaim with an instance is one. */
export function launchesIn(
  { claims, nodes }: ScopeView,
  { scope, seen }: ScopeRecord,
  { isSweep, rules, now }: Facts,
): readonly Launch[] {
  if (!isOfRules(rules, scope)) return [];
  if (!("unavailable" in claims))
    return claims.flatMap(({ instance, createdAt, nodePool }) =>
      instance === undefined ? [] : [{ instance, launchedAt: createdAt, nodePool }],
    );
  if (!isSweep) return [];
  // Without NodeClaims a node shows when it joined. It is explained by a launch that was seen while it booted; which ones
  // were seen is known for some minutes.
  const youngest = after(now, longestBoot - Math.min(lengthOf(rules), seenKept));
  const isExplained = (createdAt: Date) =>
    Object.values(seen).some((at) => at <= createdAt && after(at, longestBoot) >= createdAt);
  return nodes
    .filter(({ createdAt }) => createdAt > youngest && !isExplained(createdAt))
    .map(({ name, createdAt, nodePool }) => ({ instance: name, launchedAt: createdAt, nodePool }));
}
