import type { CallContext } from "../../../lambda/core/ports.ts";
import {
  type KubernetesCall,
  type KubernetesCaller,
  KubernetesClient,
  type KubernetesClientOptions,
} from "../../../lambda/kubernetes/client.ts";
import type { ClusterAccess } from "../../../lambda/kubernetes/cluster-login.ts";
import type { FaultsEngines } from "./engines.ts";
import type { FaultyProxy } from "./faulty-proxy.ts";

/** The holder's way to the API server: straight to it, or through the proxy while that lets things go wrong. */
export class ClusterRoute implements KubernetesCaller {
  readonly #engines: FaultsEngines;
  readonly #client: KubernetesClient;
  #beforePatch: { n: number; action: () => Promise<void> } | undefined;
  #patches = 0;
  #isProxied = false;
  #ticket: ClusterAccess | undefined;

  constructor(engines: FaultsEngines, options: Omit<KubernetesClientOptions, "login">) {
    this.#engines = engines;
    const login = { access: async () => this.#access(), refresh: () => this.#forget() };
    this.#client = new KubernetesClient({ login, ...options });
  }

  async call(call: KubernetesCall, context: CallContext): Promise<unknown> {
    if (call.method === "PATCH") this.#patches += 1;
    if (call.method === "PATCH" && this.#patches === this.#beforePatch?.n) await this.#beforePatch.action();
    return this.#client.call(call, context);
  }

  /** Does this once, in the middle of marking or releasing: before the nth patch from now. */
  beforePatch(n: number, action: () => Promise<void>): void {
    this.#patches = 0;
    this.#beforePatch = { n, action };
  }

  /** From now on calls go through the proxy, which judges them. */
  break(judge: Parameters<FaultyProxy["break"]>[0]): void {
    this.#isProxied = true;
    this.#forget();
    this.#engines.kubernetes.break(judge);
  }

  mend(): void {
    this.#isProxied = false;
    this.#beforePatch = undefined;
    this.#forget();
    this.#engines.kubernetes.mend();
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #access(): ClusterAccess {
    const { plane, kubernetes, ca } = this.#engines;
    const way = this.#isProxied ? { server: kubernetes.url, tls: {} } : { server: plane.server, tls: { ca } };
    this.#ticket ??= { ...way, headers: { authorization: `Bearer ${this.#engines.token}` } };
    return this.#ticket;
  }

  #forget(): void {
    this.#ticket = undefined;
  }
}
