import type { Context, Launch } from "../../lambda/core/ports.ts";
import { reconcile } from "../../lambda/core/reconcile.ts";
import type { ScopeRecord } from "../../lambda/core/record.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { coreWorld } from "../support/core-world.ts";

/** A world at noon with the nodes a and b, marked where there is a hold. */
export function aWorld(records: readonly ScopeRecord[] = [], rules: Partial<Rules> = {}) {
  const it = coreWorld({ records, rules });
  const { world, context } = it;
  for (const name of ["a", "b"]) world.nodes.add(name);
  for (const { hold } of records) if (hold) for (const name of ["a", "b"]) world.nodes.mark(name, hold.id);
  const launch = (): Launch => {
    const { instance, launchedAt } = world.ec2.launch({ joinsAfter: null, eventAfter: null });
    return { instance, launchedAt, nodePool: "default" };
  };
  const pass = (launches: readonly Launch[] = [], more: Partial<Context> = {}) =>
    reconcile({ ...context(), ...more }, "cluster", { launches });
  const looks = () => [...world.oneShots.armed.values()].map((oneShot) => oneShot.at);
  return { ...it, launch, pass, looks };
}

export const heldByOne = { a: holdId(1), b: holdId(1) };
