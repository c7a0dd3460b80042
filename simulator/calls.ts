import type { Ports } from "../lambda/core/ports.ts";
import type { KubernetesCall } from "../lambda/kubernetes/client.ts";
import { FakeAccessObjects } from "./fake-access-objects.ts";
import type { FakeCluster } from "./fake-kubernetes/fake-cluster.ts";
import { FakeNodeClaims } from "./fake-node-claims.ts";

/** What the API server of the simulated world knows. */
type ApiStores = Readonly<{ cluster: FakeCluster; nodeClaims: FakeNodeClaims; access: FakeAccessObjects }>;

export async function answerCall(
  { cluster, nodeClaims, access }: ApiStores,
  call: KubernetesCall,
): Promise<unknown> {
  if (FakeNodeClaims.answers(call)) return nodeClaims.answer(call);
  return FakeAccessObjects.answers(call) ? access.answer(call) : cluster.call(call);
}

/** The name of a call, by which a test makes it fail. */
export function nameOf(call: KubernetesCall): string {
  const { method, path } = call;
  if (FakeNodeClaims.answers(call)) return "claims";
  if (FakeAccessObjects.answers(call)) return `${method.toLowerCase()} ${path.split("/").at(-2)}`;
  if (path === "/api/v1/pods") return "pods";
  if (path.endsWith("/events")) return "event";
  if (path === "/apis/policy/v1/poddisruptionbudgets") return "budgets";
  const node = path.slice("/api/v1/nodes/".length);
  return node === "" ? "list" : `${method.toLowerCase()} ${node}`;
}

/** Runs before, instead of or around every call of a port. */
export type Around = <T>(call: string, effect: () => Promise<T>) => Promise<T>;

/** What the ports of the simulated world are made of. */
export type Stores = Readonly<{
  holds: Ports["holds"];
  journal: Ports["journal"];
  ec2: Ports["launches"];
  oneShots: Ports["schedules"];
  queue: Ports["followUps"];
}>;

type Intercepted = Pick<Ports, "holds" | "journal" | "launches" | "schedules" | "followUps">;

/** The ports of the simulated world, with every call of theirs under the model's control. */
export const interceptedPorts = (
  { holds, journal, ec2, oneShots, queue }: Stores,
  around: Around,
): Intercepted => ({
  holds: intercepted(holds, around),
  journal: intercepted(journal, around),
  launches: intercepted(ec2, around, { find: "instances", since: "launches" }),
  schedules: intercepted(oneShots, around),
  followUps: intercepted(queue, around),
});

/** The same port, whose calls all go through `around`: under their own names, unless others are given. */
const intercepted = <Port extends object>(
  port: Port,
  around: Around,
  names: Readonly<Record<string, string>> = {},
): Port =>
  new Proxy(port, {
    get(_, method) {
      const effect = Reflect.get(port, method) as (...args: unknown[]) => Promise<unknown>;
      const name = names[String(method)] ?? String(method);
      return (...args: unknown[]) => around(name, () => effect.apply(port, args));
    },
  });
