import { type ForceRequest, forceRelease } from "../../../lambda/core/operate/release.ts";
import type { ScopeRecord } from "../../../lambda/core/record.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { aHeldRecord, aHold } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";
import { at } from "../plans.ts";

export const batch = "nodepool/batch" as const;
export const byPool = { scope: "nodepool" } as const;
export const nothing = { released: 0, kept: 0, failed: 0, left: false };
export const because = "released by hand: upgrade";

/** A world at 12:05 with these marked nodes, by the holds that they have. */
export function aWorld(
  records: readonly ScopeRecord[],
  marks: Readonly<Record<string, string>> = { a: holdId(1) },
  rules: Partial<Rules> = {},
) {
  const it = coreWorld({ records, rules });
  for (const [name, id] of Object.entries(marks)) {
    it.world.nodes.add(name, { pool: name.split("-")[1] ?? "default" });
    it.world.nodes.mark(name, id);
  }
  it.world.time = at(5);
  const force = (about: Partial<ForceRequest> = {}) =>
    forceRelease(it.context(), { reason: "upgrade", ...about });
  return { ...it, force };
}

export const ofBatch = aHeldRecord({ scope: batch, hold: aHold({ id: holdId(2) }) });
export const ofWeb = aHeldRecord({ scope: "nodepool/web" });
export const bothMarks = { "a-web": holdId(1), "b-batch": holdId(2) };
