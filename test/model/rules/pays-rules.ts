import { after, hours, minutes } from "../../../lambda/core/duration.ts";
import { holdLabel } from "../../../lambda/core/marks/keys.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import type { NodeView } from "../../../simulator/cluster-view.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import type { World } from "../../../simulator/world.ts";
import { goodSkew, mostSkew } from "../commands.ts";
import { type Karpenter, movesOf } from "../karpenter.ts";
import { must } from "./must.ts";
import { heldUntil, isCovered, requestsOf, scopeFor } from "./oracle.ts";
import type { Records, Written } from "./records.ts";

type Facts = Readonly<{ world: World; karpenter: Karpenter; records: Records }>;

/**
 * Whether a function may let a node go while it is held: nothing that must stay runs on it, its evictions are paid for, and it
 * is not left alone because nobody took it.
 */
export function mayGo(
  { world, karpenter, records }: Facts,
  by: Invocation,
  { name, pool = "" }: NodeView,
): boolean {
  const { settings } = by;
  if (!settings.auto) return false;
  const { pods = "none", since = new Date(0) } = karpenter.loads.get(name) ?? {};
  return records.knownSince(by, scopeFor(settings, pool)).some((known) => {
    const { account, launchHold } = known.record;
    if (!launchHold) return false;
    if (requestsOf(known).some(({ until }) => until > after(world.time, mostSkew))) return false;
    if (launchHold.isEnding) return pods !== "job" || after(since, mostSkew) >= by.begunAt;
    if (!account) return false;
    const alone = account.leftAlone[name];
    if (alone && alone > after(world.time, mostSkew)) return false;
    // What began to run since the last look, or since this pass has read the pods, is not known.
    if (since >= by.begunAt || after(since, mostSkew) >= account.at) return true;
    // From its second day on, a node has a turn in which Karpenter may take it.
    const launchedAt = karpenter.launches.find(({ node }) => node === name)?.at ?? new Date(0);
    if (after(launchedAt, hours(24)) <= after(world.time, mostSkew))
      return pods !== "job" && pods !== "fixed";
    const moves = movesOf(pods);
    if (moves === undefined) return false;
    return after(launchHold.startedAt, moves * settings.evictionCost) <= after(world.time, mostSkew);
  });
}

/** A node is too large where its pods leave most of it unused, and there are nodes of another size. */
export function checkWasted({ loads, sizes }: Karpenter, written: Written): void {
  const { by, before, record, facts } = written;
  const passed = (record.account?.at.getTime() ?? 0) - (before.account?.at.getTime() ?? 0);
  for (const [name, time] of Object.entries(record.account?.wasted ?? {})) {
    const more = time - (before.account?.wasted[name] ?? 0);
    if (more <= 0) continue;
    const { pods, since = by.begunAt } = loads.get(name) ?? {};
    // What has changed since it read is not known.
    must(pods === "loose" || since >= by.begunAt, "no node is too large for pods that fill it", facts);
    must(sizes > 1, "no node is too large where all have one size", facts);
    must(more <= passed, "a node wastes no more time than has passed", facts);
  }
}

/** How the text about a node ends whose Job Karpenter may end at any time. */
export const runsJob = "runs a Job";

/** Looks come at least once a minute, and a node joins while functions run. */
const slack = minutes(3);

/** What was seen before: when no node of a scope was to be let go last, and until when nodes were left alone. */
export type Seen = Readonly<{ asked: Map<Scope, Date | "now">; alone: Map<string, Date> }>;

/**
 * On a good day: scopes in which fewer nodes were let go than have been empty for the time of a relaunch. While somebody
 * asks for a hold, pods are read by sweeps alone, of which a good day has none.
 */
export function* overdue({ world, karpenter, records }: Facts, { asked, alone }: Seen): Generator<string> {
  const { settings, time, nodes, nodeClaims, holds } = world;
  const { auto, mode, relaunchCost } = settings;
  if (!auto || mode !== "hold") return;
  for (const { scope } of holds.records.values()) {
    const known = records.known(scope);
    const { launchHold, account } = known.record;
    const isHeld = heldUntil(known, after(time, goodSkew), after(time, -goodSkew)) !== undefined;
    const isAsked = known.record.requests.length > 0;
    // A hold that waits for Jobs lets no node go; when a launch extends it, all begins anew.
    if (isAsked || launchHold?.isEnding) asked.set(scope, "now");
    else if (asked.get(scope) === "now") asked.set(scope, time);
    if (isAsked || !launchHold || !isHeld) continue;
    for (const [name, until] of Object.entries(account?.leftAlone ?? {})) alone.set(name, until);
    const since = asked.get(scope);
    const held = Math.max(launchHold.startedAt.getTime(), since instanceof Date ? since.getTime() : 0);
    const own = nodes.all().filter(({ instance, pool }) => {
      const claim = nodeClaims.claims.get(instance);
      return isCovered(settings, pool) && scopeFor(settings, pool) === scope && claim && !claim.isDeleted;
    });
    const isEmpty = ({ name, joinedAt }: NodeView) => {
      const { pods = "none", since = joinedAt } = karpenter.loads.get(name) ?? {};
      const from = Math.max(since.getTime(), joinedAt.getTime(), held, alone.get(name)?.getTime() ?? 0);
      return pods === "none" && from + relaunchCost + slack <= time.getTime();
    };
    const isLongOver =
      launchHold.isEnding && after(launchHold.lastLaunchAt, settings.maxHold + slack) <= time;
    for (const { name, labels } of isLongOver ? own : []) {
      const { pods, since = new Date(0) } = karpenter.loads.get(name) ?? {};
      if (labels[holdLabel] === known.record.hold?.id && pods !== "job" && after(since, slack) <= time)
        yield `${name} is held by a hold that ends, and runs no Job`;
    }
    if (launchHold.isEnding) continue;
    for (const { name, instance } of own) {
      const at = karpenter.letGo.get(name);
      const isFresh = at && after(at, minutes(10)) > time && !karpenter.driftedAt(instance);
      if (isFresh && karpenter.loads.get(name)?.pods === "job") yield `${name} was let go, and ${runsJob}`;
    }
    const went = own.filter(({ labels }) => labels[holdLabel] === undefined);
    const empty = own.filter(isEmpty).length;
    if (empty > went.length)
      yield `${empty} nodes of ${scope} are empty for long, and ${went.length} were let go`;
  }
}
