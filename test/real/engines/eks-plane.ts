import type { KubeConfig } from "@kubernetes/client-node";
import { loadConfig, type Plane, runKubectl } from "./control-plane.ts";
import { Processes } from "./processes.ts";

/** What the emulator reports about a control plane that it started for an EKS cluster. */
export type StartedPlane = Readonly<{ server: string; kubeconfig: string }>;

/** The control plane of an EKS cluster: the emulator's child. */
export class EksPlane implements Plane {
  readonly processes: Processes;
  readonly #kubeconfig: string;

  constructor(name: string, { kubeconfig }: StartedPlane) {
    this.#kubeconfig = kubeconfig;
    this.processes = new Processes(`eks-${name}`);
  }

  get folder(): string {
    return this.processes.folder;
  }

  kubeconfig(): string {
    return this.#kubeconfig;
  }

  config(): KubeConfig {
    return loadConfig(this.kubeconfig());
  }

  async kubectl(args: readonly string[]): Promise<string> {
    return runKubectl(this.kubeconfig(), args);
  }

  /** Stops what was started on it; the control plane ends with the emulator. */
  async stop(): Promise<void> {
    await this.processes.stopAll();
  }
}
