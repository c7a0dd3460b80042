import type { KubernetesCall } from "../lambda/kubernetes/client.ts";
import { FakeAccessObjects } from "./fake-access-objects.ts";
import type { FakeCluster } from "./fake-kubernetes/fake-cluster.ts";
import { FakeNodeClaims } from "./fake-node-claims.ts";

/** What the API server of the simulated world knows. */
type Stores = Readonly<{ cluster: FakeCluster; nodeClaims: FakeNodeClaims; access: FakeAccessObjects }>;

export async function answerCall(
  { cluster, nodeClaims, access }: Stores,
  call: KubernetesCall,
): Promise<unknown> {
  if (FakeNodeClaims.answers(call)) return nodeClaims.answer(call);
  return FakeAccessObjects.answers(call) ? access.answer(call) : cluster.call(call);
}

/** The name of a call, by which a test makes it fail. */
export function nameOf(call: KubernetesCall): string {
  const { method, path } = call;
  if (FakeNodeClaims.answers(call)) return path.endsWith("/events") ? "events" : "claims";
  if (FakeAccessObjects.answers(call)) return `${method.toLowerCase()} ${path.split("/").at(-2)}`;
  const node = path.slice("/api/v1/nodes/".length);
  return node === "" ? "list" : `${method.toLowerCase()} ${node}`;
}
