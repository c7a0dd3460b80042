import { minutes } from "../../../lambda/core/duration.ts";
import { pause, releaseDue } from "../../../lambda/core/operate/release.ts";
import type { ScopeRecord } from "../../../lambda/core/record.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { nodePoolOf, type Scope } from "../../../lambda/core/scope.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { coreWorld } from "../../support/core-world.ts";
import { at } from "../plans.ts";

export const pool = "nodepool/default" as const;
export const byPool = { scope: "nodepool" } as const;
export const reason = "upgrade";
export const because = "paused by hand: upgrade";

/** A world at 12:05 with a marked node. */
export function aWorld(records: readonly ScopeRecord[] = [], rules: Partial<Rules> = {}) {
  const it = coreWorld({ records, rules });
  const { world, context } = it;
  world.nodes.add("a");
  world.nodes.mark("a", holdId(1));
  world.time = at(5);
  const ask = (minutesLong?: number, scope?: Scope) =>
    pause(context(), { reason, scope, ...(minutesLong && { for: minutes(minutesLong) }) });
  /** Whether a launch at this time is held. */
  const holds = async (launchedAt: Date, scope: Scope = "cluster") => {
    const nodePool = nodePoolOf(scope) ?? "default";
    const name = `${nodePool}-${launchedAt.getTime()}`;
    world.nodeClaims.add({ name, instance: `i-${name}`, createdAt: launchedAt, nodePool });
    return (await releaseDue(context(), scope)).heldUntil !== undefined;
  };
  return { ...it, ask, holds };
}
