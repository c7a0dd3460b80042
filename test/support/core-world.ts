import type { Duration } from "../../lambda/core/duration.ts";
import { hours } from "../../lambda/core/duration.ts";
import { nothingReleased } from "../../lambda/core/holds/end-hold.ts";
import type { ScopeRecord } from "../../lambda/core/holds/hold.ts";
import type { Context, FollowUp, Marked, Released } from "../../lambda/core/ports.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { World } from "../../simulator/world.ts";
import { someRules } from "./builders.ts";
import { until } from "./context.ts";

const nothingMarked: Marked = { marked: 0, adopted: 0, userHeld: 0, failed: 0, left: false, seen: [] };

type Answers = Readonly<{
  records?: readonly ScopeRecord[];
  rules?: Partial<Rules>;
  marked?: Partial<Marked>;
  released?: Partial<Released>;
  nodePools?: readonly string[];
}>;

/** A context whose nodes and schedules only record their calls, for the tests of one use case. */
export function coreWorld({
  records = [],
  rules = {},
  marked = {},
  released = {},
  nodePools = [],
}: Answers = {}) {
  const world = new World();
  for (const record of records) void world.holds.put(record);
  const calls: unknown[][] = [];
  const queued: Readonly<{ followUp: FollowUp; delay: Duration }>[] = [];
  const context: Context = {
    ...world.ports,
    ...until(new Date(world.time.getTime() + hours(1))),
    rules: someRules(rules),
    holds: world.holds,
    journal: world.journal,
    nodes: {
      ...world.ports.nodes,
      mark: async ({ scope, holdId, ...limits }) => {
        calls.push(["mark", scope, holdId, ...(limits.joinedFrom ? [limits] : [])]);
        return { ...nothingMarked, ...marked };
      },
      release: async (holdId) => {
        calls.push(["release", holdId]);
        return { ...nothingReleased, ...released };
      },
      nodePools: async () => new Set(nodePools),
    },
    schedules: {
      arm: async (scope, holdId, at) => {
        calls.push(["arm", scope, holdId, at]);
        return "armed";
      },
    },
    followUps: { enqueue: async (followUp, delay) => void queued.push({ followUp, delay }) },
  };
  const record = (scope: ScopeRecord["scope"] = "cluster") => world.holds.records.get(scope);
  return { world, context, calls, queued, record, metrics: world.metrics };
}
