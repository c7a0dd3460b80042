import { after, minutes } from "../../../lambda/core/duration.ts";
import type { ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import { holdLabel, markValue, neverHold } from "../../../lambda/core/marks/keys.ts";
import { wholeCluster } from "../../../lambda/core/scope.ts";
import type { NodeView } from "../../../simulator/cluster-view.ts";
import type { World } from "../../../simulator/world.ts";
import { mostSkew } from "../commands.ts";
import type { Karpenter } from "../karpenter.ts";
import { countsFrom, dueOf, isCovered, leastHold, scopeFor } from "./oracle.ts";

/** A launch whose NodeClaim is not known counts as demand after so long. */
const doubtEndsAfter = minutes(1);

/** Everything that one sweep must repair, one line each. */
export function* unhealed(world: World, karpenter: Karpenter): Generator<string> {
  const { unreadable } = world.holds;
  const all = [...world.holds.records.values()];
  const records = all.filter(({ scope }) => !unreadable.has(scope));
  const unread = all.filter(
    ({ scope, hold }) => unreadable.has(scope) && hold && after(hold.expiresAt, mostSkew) > world.time,
  );
  const whole = world.holds.records.get(wholeCluster);
  const ids = new Set([...records, ...unread].flatMap(({ hold }) => hold?.id ?? []));
  for (const record of records) {
    if (record.hold && mustEnd(world, record, whole)) yield `hold ${record.hold.id} is over, but not closed`;
  }
  for (const node of world.nodes.all()) {
    const label = node.labels[holdLabel];
    const scope = isCovered(world.settings, node.pool) ? scopeFor(world.settings, node.pool) : undefined;
    const isReadable = scope !== undefined && !unreadable.has(scope);
    const record = isReadable ? world.holds.records.get(scope) : undefined;
    const goesOn = record !== undefined && !mustEnd(world, record, whole);
    const isToAdopt = goesOn && lacksMark(world, record, node);
    // A sweep leaves an orphaned mark to the hold that is to adopt it.
    if (label !== undefined && label !== neverHold && !ids.has(label) && !isToAdopt)
      yield `${node.name} has an orphaned mark, ${label}`;
    if (!isReadable) continue;
    if (isToAdopt) yield `${node.name} is not in its hold, ${record.hold?.id}`;
    if (label === undefined && isDemand(world, karpenter, node) && wasMissed(world, record, whole, node))
      yield `the launch of ${node.name} was missed`;
  }
}

function mustEnd(world: World, record: ScopeRecord, whole: ScopeRecord | undefined): boolean {
  const { hold } = record;
  if (!hold) return false;
  if (hold.state === "releasing") return true;
  if (after(dueOf(hold, world.settings), mostSkew) <= world.time) return true;
  return hold.causedAt < countsFrom(record, whole);
}

/** Whether a node that a running hold covers lacks its mark. */
export function lacksMark(world: World, { hold }: ScopeRecord, node: NodeView): boolean {
  if (hold?.state !== "held" || after(dueOf(hold, world.settings), -mostSkew) <= world.time) return false;
  const label = node.labels[holdLabel];
  if (label === hold.id || label === neverHold || isOutlasting(world, label)) return false;
  const value = node.annotations[world.settings.holdAnnotation];
  return value === undefined || (label !== undefined && value === markValue);
}

/** A hold that started with another setting of `scope` keeps its nodes until it is due. */
const isOutlasting = (world: World, label: string | undefined): boolean =>
  [...world.holds.records.values()].some(
    ({ scope, hold }) =>
      hold?.id === label &&
      hold?.state === "held" &&
      (world.settings.scope === "cluster") !== (scope === wholeCluster) &&
      after(dueOf(hold, world.settings), mostSkew) > world.time,
  );

/** Whether a launch must count by now: an event about it cannot be on its way any more. */
function isDemand({ time, settings }: World, karpenter: Karpenter, { instance }: NodeView): boolean {
  if (settings.replacements === "hold") return true;
  const launch = karpenter.launches.get(instance);
  return !launch || (!launch.namedAt && after(launch.launchedAt, doubtEndsAfter + mostSkew) <= time);
}

/** A launch without a handled event, found by its node; the sweep can only find nodes that joined unmarked. */
function wasMissed(
  world: World,
  record: ScopeRecord | undefined,
  whole: ScopeRecord | undefined,
  node: NodeView,
): boolean {
  const instance = world.ec2.instances.get(node.instance);
  if (instance?.nodePool === undefined || world.ec2.unlisted.has(node.instance)) return false;
  const { launchedAt } = instance;
  const { initialDelay } = world.settings;
  const hold = leastHold(world.settings);
  if (record?.lastLaunchAt && launchedAt <= record.lastLaunchAt) return false;
  if (launchedAt < countsFrom(record, whole)) return false;
  const now = world.time;
  return after(launchedAt, hold - mostSkew) > now && after(launchedAt, initialDelay + mostSkew) <= now;
}
