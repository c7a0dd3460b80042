import { hours } from "../../lambda/core/duration.ts";
import type { Context } from "../../lambda/core/ports.ts";
import type { ScopeRecord } from "../../lambda/core/record.ts";
import type { Settings } from "../../lambda/settings.ts";
import { World } from "../../simulator/world.ts";
import { until } from "./context.ts";

type Options = Readonly<{ records?: readonly ScopeRecord[]; rules?: Partial<Settings> }>;

/** The simulated world and the context of a use case in it, with an hour of time; the node adapter is the real one. */
export function coreWorld({ records = [], rules = {} }: Options = {}) {
  const world = new World(rules);
  for (const record of records) void world.holds.put(record);
  const context = (): Context => ({
    ...world.ports,
    ...until(new Date(world.time.getTime() + hours(1)), world.log),
  });
  const record = (scope: ScopeRecord["scope"] = "cluster") => world.holds.records.get(scope);
  return { world, context, record, metrics: world.metrics };
}
