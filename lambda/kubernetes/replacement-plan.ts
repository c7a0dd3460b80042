import * as v from "valibot";
import { after, type Duration, seconds } from "../core/duration.ts";

const units: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** A quantity as Kubernetes writes it, like `3900m` or `7Gi`; one that is not understood compares with none. */
export function parseQuantity(text: string): number {
  const [, number = "", unit = ""] = /^(.*?\d)([a-zA-Z]*)$/.exec(text) ?? [];
  return number === "" ? Number.NaN : Number(number) * (unit === "" ? 1 : (units[unit] ?? Number.NaN));
}

/** A NodeClaim that a person wrote may have plain numbers. */
const textOrNumber = v.union([v.string(), v.number()]);
const quantity = v.optional(v.pipe(textOrNumber, v.transform(String), v.transform(parseQuantity)), "0");
export const resourcesSchema = v.optional(v.object({ cpu: quantity, memory: quantity }), {});
type Resources = v.InferOutput<typeof resourcesSchema>;

/** A NodeClaim that Karpenter launched to replace nodes. Until it is initialized, the nodes it replaces are still there. */
export type Launched = Readonly<{ at: Date; isInitialized: boolean; requests: Resources }>;
/** A node that Karpenter chose to replace, a moment before it launched what replaces it. */
export type Chosen = Readonly<{ at: Date; allocatable: Resources }>;

/** Both times are whole seconds, and those of two clocks. */
const moment: Duration = seconds(1);
/** Each new node also runs daemons, and a node may have a little more room than Karpenter expected. */
const tolerance = 1.1;

/**
 * Karpenter plans a replacement together with the pods that wait at that moment. Then it asks for more than the nodes that
 * it chose have room for. More NodeClaims than nodes are no sign: smaller nodes may replace a large one, and waiting pods
 * may share the node of the others.
 */
export function asksForMore(
  one: Launched,
  launched: readonly Launched[],
  chosen: readonly Chosen[],
): boolean {
  if (one.isInitialized) return false;
  const isNear = (at: Date, before: Duration) => at >= after(one.at, -before) && at <= after(one.at, moment);
  const beside = launched.filter(({ at, isInitialized }) => !isInitialized && isNear(at, moment));
  const replaced = chosen.filter(({ at }) => isNear(at, 2 * moment));
  return (["cpu", "memory"] as const).some((resource) => {
    const room = replaced.reduce((sum, { allocatable }) => sum + allocatable[resource], 0);
    const asked = beside.reduce((sum, { requests }) => sum + requests[resource], 0);
    return room > 0 && asked > room * tolerance;
  });
}
