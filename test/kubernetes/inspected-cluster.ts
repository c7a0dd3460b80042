import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { Karpenter, type KarpenterGeneration } from "../../lambda/core/marks/keys.ts";
import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { KubernetesInspection } from "../../lambda/kubernetes/inspection.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import { until } from "../support/context.ts";
import { answering } from "./answers-in-turn.ts";

export const { annotation } = Karpenter.v1;
/** As the API server answers for a policy: the cause names it. */
export const refusal = (message: string) =>
  new KubernetesError("PATCH", 422, { message, details: { name: "a", causes: [{ message }] } });
export const denial = refusal("denied request");
export const isForeign = (call: KubernetesCall) => JSON.stringify(call.body).includes("not-ours");

type Node = Readonly<Record<string, unknown>>;
export const aNode = (name: string, metadata: Node = {}): Node => ({
  metadata: {
    name,
    uid: `uid-${name}`,
    creationTimestamp: after(noon, -hours(100)).toISOString(),
    ...metadata,
  },
});

export const nodeRights = ["get nodes", "list nodes"];
export const claimRights = ["list nodeclaims of karpenter.sh"];

/** A cluster that grants these rights and answers dry runs so. */
export function aCluster(
  about: Readonly<{
    nodes?: readonly Node[];
    rights?: readonly string[];
    gitVersion?: unknown;
    karpenter?: KarpenterGeneration;
    mode?: "hold" | "observe";
    auto?: boolean;
    nodeEvents?: boolean;
    patch?: (call: KubernetesCall) => unknown;
    /** What is answered instead. */
    answer?: (call: KubernetesCall) => Readonly<{ instead: unknown }> | undefined;
  }> = {},
) {
  const { nodes = [aNode("a")], rights = [...nodeRights, "patch nodes", ...claimRights] } = about;
  const { gitVersion = "v1.36.1", karpenter = "v1", mode = "hold" } = about;
  const { auto = false, nodeEvents = false } = about;
  const patch =
    about.patch ??
    ((call) => {
      if (isForeign(call)) throw denial;
      return aNode("a");
    });
  const { api, calls } = answering((call) => {
    const other = about.answer?.(call);
    if (other) return other.instead;
    if (call.path === "/version") return { gitVersion };
    if (call.method !== "POST") return call.method === "GET" ? { metadata: {}, items: nodes } : patch(call);
    const asked = JSON.parse(JSON.stringify(call.body)).spec.resourceAttributes;
    const where = asked.group ?? asked.namespace;
    const right = `${asked.verb} ${asked.resource}${where ? ` of ${where}` : ""}`;
    return { status: { allowed: rights.includes(right) } };
  });
  const inspection = new KubernetesInspection({
    api,
    karpenter,
    annotation,
    nodePools: { only: [], except: [] },
    mode,
    auto,
    nodeEvents,
    clock: new VirtualClock(),
  });
  return { calls, inspect: () => inspection.inspect(until(after(noon, minutes(1)))) };
}
