import type { KubernetesCall } from "../lambda/kubernetes/client.ts";
import type { FakeCluster } from "./fake-kubernetes/fake-cluster.ts";
import { FakeNodeClaims } from "./fake-node-claims.ts";

/** What the API server of the simulated world knows. */
type Stores = Readonly<{ cluster: FakeCluster; nodeClaims: FakeNodeClaims }>;

export const answerCall = async ({ cluster, nodeClaims }: Stores, call: KubernetesCall): Promise<unknown> =>
  FakeNodeClaims.answers(call) ? nodeClaims.answer(call) : cluster.call(call);

/** The name of a call, by which a test makes it fail. */
export function nameOf(call: KubernetesCall): string {
  const { method, path } = call;
  if (FakeNodeClaims.answers(call)) return path.endsWith("/events") ? "events" : "claims";
  const node = path.slice("/api/v1/nodes/".length);
  return node === "" ? "list" : `${method.toLowerCase()} ${node}`;
}
