import { after, minutes } from "../../../lambda/core/duration.ts";
import type { ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import { holdLabel, markValue, neverHold } from "../../../lambda/core/marks/keys.ts";
import { wholeCluster } from "../../../lambda/core/scope.ts";
import type { NodeView } from "../../../simulator/cluster-view.ts";
import type { World } from "../../../simulator/world.ts";
import { mostSkew } from "../commands.ts";
import type { Karpenter } from "../karpenter.ts";
import type { LetGoRules } from "./let-go-rules.ts";
import { belongs, countsFrom, dueOf, isCovered, leastHold, scopeFor } from "./oracle.ts";

/** A launch whose NodeClaim is not known counts as demand after so long. */
const doubtEndsAfter = minutes(1);

/** Everything that one sweep must repair, one line each. */
export function* unhealed(world: World, karpenter: Karpenter, letGo: LetGoRules): Generator<string> {
  const records = [...world.holds.records.values()];
  const whole = world.holds.records.get(wholeCluster);
  const ids = new Set(records.flatMap(({ hold }) => hold?.id ?? []));
  for (const record of records) {
    if (record.unreadable) yield `the record of ${record.scope} cannot be read`;
    if (record.hold && mustEnd(world, record, whole)) yield `hold ${record.hold.id} is over, but not closed`;
  }
  for (const node of world.nodes.all()) {
    const label = node.labels[holdLabel];
    const scope = isCovered(world.settings, node.pool) ? scopeFor(world.settings, node.pool) : undefined;
    if (label !== undefined && label !== neverHold && !ids.has(label))
      yield `${node.name} has an orphaned mark, ${label}`;
    if (scope === undefined) continue;
    const record = world.holds.records.get(scope);
    if (record && !mustEnd(world, record, whole) && lacksMark(world, record, node, letGo))
      yield `${node.name} is not in its hold, ${record.hold?.id}`;
    if (label === undefined && isDemand(world, karpenter, node) && wasMissed(world, record, whole, node))
      yield `the launch of ${node.name} was missed`;
  }
}

function mustEnd(world: World, record: ScopeRecord, whole: ScopeRecord | undefined): boolean {
  const { hold } = record;
  if (!hold) return false;
  if (hold.state === "releasing") return true;
  if (after(dueOf(hold, world.settings), mostSkew) <= world.time) return true;
  return hold.causedAt < countsFrom(record, whole) || !belongs(world.settings, record.scope);
}

/** Whether a node that a running hold covers lacks its mark, and was not let go. */
export function lacksMark(world: World, { hold }: ScopeRecord, node: NodeView, letGo: LetGoRules): boolean {
  if (hold?.state !== "held" || after(dueOf(hold, world.settings), -mostSkew) <= world.time) return false;
  const label = node.labels[holdLabel];
  if (label === hold.id || label === neverHold || letGo.excuses(hold.id, node.name)) return false;
  const value = node.annotations[world.settings.holdAnnotation];
  return value === undefined || (label !== undefined && value === markValue);
}

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
