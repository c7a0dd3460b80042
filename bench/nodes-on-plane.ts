import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { inTurns } from "../lambda/adapters/in-turns.ts";
import { Karpenter } from "../lambda/adapters/keys.ts";
import { kubeconfigLogin } from "../lambda/adapters/kubeconfig-login.ts";
import { type KubernetesCaller, KubernetesClient } from "../lambda/adapters/kubernetes-client.ts";
import { KubernetesNodes } from "../lambda/adapters/kubernetes-nodes.ts";
import { systemClock } from "../lambda/adapters/system-clock.ts";
import type { ControlPlane } from "../test/real/control-plane.ts";

/** A connection pool and nothing else: the fastest a Node process can ask this API server. */
export class BareLoop {
  readonly #agent: Agent;
  readonly #plane: ControlPlane;
  readonly hands: number;

  constructor(plane: ControlPlane, hands: number) {
    this.#plane = plane;
    this.hands = hands;
    const ca = readFileSync(`${plane.folder}/certs/apiserver.crt`);
    this.#agent = new Agent({ keepAlive: true, maxSockets: hands, ca });
  }

  /** Sends one request for each name, so many at a time. */
  async each(
    names: readonly string[],
    method: string,
    body: (name: string) => unknown,
    path = pathOf,
  ): Promise<void> {
    await inTurns(iterate(names), this.hands, (name) => this.#send(method, path(name), body(name)));
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, body: unknown): Promise<void> {
    const contentType = method === "PATCH" ? "application/json-patch+json" : "application/json";
    return new Promise((resolve, reject) => {
      const headers = { authorization: "Bearer admin", "content-type": contentType };
      const call = request(
        `${this.#plane.server}${path}`,
        { agent: this.#agent, method, headers },
        (answer) => {
          const isGood = (answer.statusCode ?? 500) < 300;
          answer
            .resume()
            .once("end", () =>
              isGood ? resolve() : reject(new Error(`${method} ${path}: ${answer.statusCode}`)),
            );
        },
      );
      call.once("error", reject).end(JSON.stringify(body));
    });
  }
}

const pathOf = (name: string) => `/api/v1/nodes/${name}`;

async function* iterate<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

export const nodeNames = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `node-${String(i).padStart(6, "0")}`);

/** Puts bare nodes of Karpenter into the cluster; the size of their status is that of an ordinary node. */
export async function createNodes(loop: BareLoop, names: readonly string[]): Promise<void> {
  await loop.each(
    names,
    "POST",
    (name) => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name,
        labels: {
          [Karpenter.v1.poolLabel]: "default",
          "karpenter.sh/registered": "true",
          "kubernetes.io/arch": "amd64",
        },
        annotations: { "node.alpha.kubernetes.io/ttl": "0" },
      },
      spec: { providerID: `aws:///us-east-1a/i-${name.replace("node-", "0000000000")}` },
    }),
    () => "/api/v1/nodes",
  );
}

/** The holder's own nodes port, as it is deployed, logged in as the bare loop is. */
export function holderNodes(plane: ControlPlane, around = (api: KubernetesCaller): KubernetesCaller => api) {
  const api = new KubernetesClient({
    login: kubeconfigLogin(plane.config("admin")),
    clock: systemClock,
    metrics: { add: () => {} },
  });
  const nodes = new KubernetesNodes({
    api: around(api),
    poolLabel: Karpenter.v1.poolLabel,
    annotation: Karpenter.v1.annotation,
    nodePools: { only: [], except: [] },
    clock: systemClock,
    log: console,
    metrics: { add: () => {} },
  });
  return { nodes, close: () => api.close() };
}
