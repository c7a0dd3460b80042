import { after, minutes } from "../../../lambda/core/duration.ts";
import { isHoldId } from "../../../lambda/core/marks/hold-id.ts";
import { holdLabel } from "../../../lambda/core/marks/keys.ts";
import type { Hold, ScopeRecord } from "../../../lambda/core/record.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import type { NodeView } from "../../../simulator/cluster-view.ts";
import type { World } from "../../../simulator/world.ts";
import { goodSkew } from "../commands.ts";
import type { Karpenter } from "../karpenter.ts";
import type { HoldRules } from "./hold-rules.ts";
import {
  heldUntil,
  isCovered,
  isSurelyFree,
  isSurelyHeld,
  type Known,
  lengthOf,
  requestsOf,
  scopeFor,
  silencedUntil,
} from "./oracle.ts";
import type { Records } from "./records.ts";

/** Something that a pass over a scope must repair, and the calls of which each must succeed for that. */
export type Unfinished = Readonly<{
  scope: Scope;
  text: string;
  needs: readonly string[];
  isForSweeps?: true;
  isClosing?: true;
  /** Because its hold is over. */
  isOver?: true;
}>;

type Facts = Readonly<{
  world: World;
  karpenter: Karpenter;
  records: Records;
  holds: HoldRules;
  skew: number;
}>;

/** Everything that is not as it must be, whatever the clocks of the functions show. */
export function* unfinished(facts: Facts): Generator<Unfinished> {
  const { world, records } = facts;
  for (const { scope } of world.holds.records.values()) yield* ofRecord(facts, records.known(scope));
  for (const node of world.nodes.all()) yield* ofNode(facts, node);
  yield* ofLaunches(facts);
}

function* ofRecord({ world, skew }: Facts, known: Known): Generator<Unfinished> {
  const { record } = known;
  const { scope, hold, unreadable } = record;
  if (unreadable) yield { scope, text: `the record of ${scope} cannot be read`, needs: [] };
  const isHeld = isSurelyHeld(known, world.time, skew);
  if (isHeld && (!hold || hold.ended)) yield { scope, text: `${scope} is to be held`, needs: [] };
  if (!hold) return;
  const isOver = hold.ended || isSurelyFree(known, world.time, skew);
  if (isOver && !mayBeMarked(hold, record, after(world.time, -2 * skew)))
    yield { scope, text: `hold ${hold.id} is over`, needs: ["patch", "get"], isClosing: true, isOver: true };
  const end = isHeld && heldUntil(known, world.time);
  if (!end || !isHeld) return;
  const latest = after(end > after(world.time, skew) ? end : after(world.time, skew), minutes(2));
  const shots = [...world.oneShots.armed.values()].filter(
    (one) => one.scope === scope && one.holdId === hold.id,
  );
  const isSet =
    shots.some(({ at }) => at <= latest) || world.oneShots.hasFired(hold.id, record.looks.oneShot);
  if (!isSet) yield { scope, text: `no one-shot for ${hold.id}`, needs: ["arm"], isForSweeps: true };
}

/** A hold that ends within a minute of its start, or of a launch, is left for this minute: it may still be marked. */
const mayBeMarked = ({ startedAt, ended }: Hold, { seen }: ScopeRecord, now: Date): boolean =>
  ended !== undefined && [startedAt, ...Object.values(seen)].some((at) => after(at, minutes(1)) > now);

function* ofNode({ world, karpenter, records, holds, skew }: Facts, node: NodeView): Generator<Unfinished> {
  const { name, pool, instance, labels, annotations } = node;
  const { settings, time } = world;
  const label = labels[holdLabel];
  const scope = scopeFor(settings, pool ?? "");
  const needs = [`patch ${name}`, `get ${name}`];
  const marked = isHoldId(label) ? label : undefined;
  if (marked && (!isCovered(settings, pool) || !holds.isRunning(marked)))
    yield { scope, text: `${name} has the mark of ${marked}`, needs, isForSweeps: true };
  if (!isCovered(settings, pool)) return;
  const known = records.known(scope);
  const { hold } = known.record;
  if (marked && marked === hold?.id) {
    const isFree = hold.ended || isSurelyFree(known, time, skew);
    if (isFree || settings.mode === "observe")
      yield { scope, text: `${name} is marked for ${marked}`, needs, isOver: true };
  }
  if (!isSurelyHeld(known, time, skew) || settings.mode === "observe") return;
  const driftedAt = karpenter.driftedAt(instance);
  if (driftedAt) {
    const isRequestedAt = (now: Date) => requestsOf(known).some(({ until }) => until > now);
    const isLongAt = (now: Date) => after(driftedAt, settings.driftWait) <= now;
    const isFree = isLongAt(after(time, -skew)) && !isRequestedAt(after(time, -skew));
    // A mark that seems younger than the hold is another one's, which a sweep removes.
    if (marked && (!hold || marked <= hold.id) && isFree && karpenter.isReadable)
      yield { scope, text: `${name} is drifted`, needs: [...needs, "claims"] };
    if (isLongAt(after(time, skew)) && !isRequestedAt(after(time, skew))) return;
  }
  const isEnding = known.record.launchHold?.isEnding && requestsOf(known).length === 0;
  // Nodes stay as they are until their pods are read, and then those without work that must end are released.
  const isOlder = marked !== undefined && hold !== undefined && marked < hold.id;
  if ((marked === undefined || isOlder) && isEnding) return;
  if (marked === undefined && mayBeGone({ karpenter, skew }, known, { node, now: time })) return;
  const value = annotations[settings.holdAnnotation];
  const isTheirs = isOlder
    ? ![undefined, "true"].includes(value)
    : label !== undefined || value !== undefined;
  if (!isTheirs) yield { scope, text: `${name} lacks a mark of ${scope}`, needs };
}

/** Whether a node may be without a mark because it was let go. On a good day it is marked again when nobody takes it who may. */
function mayBeGone(
  { karpenter, skew }: Pick<Facts, "karpenter" | "skew">,
  { record }: Known,
  { node, now }: Readonly<{ node: NodeView; now: Date }>,
): boolean {
  // A node that had no mark, because it was drifted, is let go without a change of it.
  const at = karpenter.letGo.get(node.name) ?? record.account?.letGo[node.name];
  const since = karpenter.takeableSince(node);
  if (skew > goodSkew || !since) return at !== undefined;
  return at !== undefined && after(since > at ? since : at, takenWithin) > now;
}

/** Karpenter has ten minutes, and looks come at least once a minute. */
const takenWithin = minutes(12);

/** Launches that are known only by what the cluster shows: a NodeClaim, or else a node that no launch explains. */
function* ofLaunches({ world, karpenter, records, skew }: Facts): Generator<Unfinished> {
  const { settings, time } = world;
  const { initialDelay } = settings;
  const hold = lengthOf(settings);
  const { isReadable } = karpenter;
  // A node may have been launched ten minutes before it joined, and launches are known for a quarter of an hour.
  const shown = isReadable ? hold : Math.min(hold, minutes(15)) - longestBoot;
  for (const { instance, node, pool, times } of karpenter.launches) {
    const [claimedAt = new Date(0), , joinedAt = new Date(0)] = times;
    if (!isCovered(settings, pool) || !isShown(world, { instance, node, isReadable })) continue;
    const known = records.known(scopeFor(settings, pool));
    const { scope, launchHold, seen } = known.record;
    const at = isReadable ? claimedAt : joinedAt;
    const isDue = after(at, initialDelay + skew) <= time && after(at, shown - skew) > time;
    const isExplained = (launch: Date) => launch <= joinedAt && after(launch, longestBoot) >= joinedAt;
    if (!isDue || at < silencedUntil(known) || (!isReadable && Object.values(seen).some(isExplained)))
      continue;
    const isHeld = launchHold !== undefined && launchHold.lastLaunchAt >= at;
    const needs = isReadable ? ["claims"] : [];
    if (!isHeld)
      yield { scope, text: `${instance} was missed`, needs, ...(!isReadable && { isForSweeps: true }) };
  }
}

type Shown = Readonly<{ instance: string; node: string; isReadable: boolean }>;

function isShown({ nodes, nodeClaims }: World, { instance, node, isReadable }: Shown): boolean {
  const claim = nodeClaims.claims.get(instance);
  if (isReadable) return claim?.instance !== undefined && !claim.isDeleted;
  const joined = nodes.get(node);
  return joined !== undefined && joined.labels[holdLabel] === undefined;
}

const longestBoot = minutes(10);
