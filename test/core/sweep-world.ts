import type { ScopeRecord } from "../../lambda/core/record.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aHeldRecord, aHold } from "../support/builders.ts";
import { coreWorld } from "../support/core-world.ts";
import { at } from "./plans.ts";

export const [first, second, third] = [holdId(1), holdId(2), holdId(3)];
export const byPool = { scope: "nodepool" } as const;

/** A world with a node in each of these NodePools, named after it. */
export function aWorld(
  records: readonly ScopeRecord[],
  rules: Partial<Rules> = {},
  pools = ["web", "batch"],
) {
  const it = coreWorld({ records, rules });
  for (const pool of pools) it.world.nodes.add(pool, { pool });
  return it;
}

type World = ReturnType<typeof aWorld>["world"];
export const mark = ({ nodes }: World, marks: Readonly<Record<string, string>>) => {
  for (const [name, id] of Object.entries(marks)) nodes.mark(name, id);
};

/** The record of a NodePool, whose launch hold is due at this minute. */
export const dueAt = (minute: number, pool: string, id: string): ScopeRecord =>
  aHeldRecord({
    scope: `nodepool/${pool}`,
    hold: aHold({ id }),
    launchHold: { startedAt: at(0), lastLaunchAt: at(minute - 20) },
  });
