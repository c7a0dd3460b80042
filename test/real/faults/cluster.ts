import type { CallContext } from "../../../lambda/core/ports.ts";
import {
  type KubernetesCall,
  type KubernetesCaller,
  KubernetesClient,
  type KubernetesClientOptions,
} from "../../../lambda/kubernetes/client.ts";
import type { ClusterAccess } from "../../../lambda/kubernetes/transport.ts";
import type { FaultsEngines } from "./engines.ts";
import type { FaultyProxy } from "./faulty-proxy.ts";

/** The holder's connection to the API server: direct, or through the proxy while it injects faults. */
export class ClusterRoute implements KubernetesCaller {
  readonly #engines: FaultsEngines;
  readonly #client: KubernetesClient;
  #beforePatch: { n: number; action: () => Promise<void> } | undefined;
  #patches = 0;
  #isProxied = false;
  #login: ClusterAccess | undefined;

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

  /** Runs an action once, before the nth patch from now: in the middle of marking or releasing. */
  beforePatch(n: number, action: () => Promise<void>): void {
    this.#patches = 0;
    this.#beforePatch = { n, action };
  }

  /** From now on calls go through the proxy, which injects faults. */
  inject(faultOf: Parameters<FaultyProxy["inject"]>[0]): void {
    this.#isProxied = true;
    this.#forget();
    this.#engines.kubernetes.inject(faultOf);
  }

  reset(): void {
    this.#isProxied = false;
    this.#beforePatch = undefined;
    this.#forget();
    this.#engines.kubernetes.reset();
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #access(): ClusterAccess {
    const { plane, kubernetes, ca } = this.#engines;
    const route = this.#isProxied
      ? { server: kubernetes.url, tls: {} }
      : { server: plane.server, tls: { ca } };
    this.#login ??= { ...route, headers: { authorization: `Bearer ${this.#engines.token}` } };
    return this.#login;
  }

  #forget(): void {
    this.#login = undefined;
  }
}
