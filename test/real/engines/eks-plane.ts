import type { KubeConfig } from "@kubernetes/client-node";
import { isReady, loadConfig, type Plane, runKubectl } from "./control-plane.ts";
import { isFree } from "./ports.ts";
import { Processes, type Started, until } from "./processes.ts";

/** What the emulator tells of a control plane that it started for an EKS cluster. */
export type PlaneTold = Readonly<{
  server: string;
  kubeconfig: string;
  apiServer: Readonly<{ pid: number; command: readonly string[] }>;
}>;

/** The control plane of an EKS cluster: the emulator's child, whose API server can be stopped and started again. */
export class EksPlane implements Plane {
  readonly server: string;
  readonly processes: Processes;
  readonly #told: PlaneTold;
  #apiServer: Started | "the emulator's" | "away" = "the emulator's";

  constructor(name: string, told: PlaneTold) {
    this.#told = told;
    this.server = told.server;
    this.processes = new Processes(`eks-${name}`);
  }

  get folder(): string {
    return this.processes.folder;
  }

  kubeconfig(): string {
    return this.#told.kubeconfig;
  }

  config(): KubeConfig {
    return loadConfig(this.kubeconfig());
  }

  async kubectl(args: readonly string[]): Promise<string> {
    return runKubectl(this.kubeconfig(), args);
  }

  /** Takes the API server away as a crash would. */
  async stopApiServer(): Promise<void> {
    if (this.#apiServer === "the emulator's") process.kill(this.#told.apiServer.pid, "SIGKILL");
    else if (this.#apiServer !== "away") await this.processes.stop(this.#apiServer, "SIGKILL");
    this.#apiServer = "away";
    await until("the API server's port to be free", () => isFree(Number(new URL(this.server).port)));
  }

  /** Brings it back if it is away: same address, same data. */
  async startApiServer(): Promise<void> {
    if (this.#apiServer !== "away") return;
    const [program = "", ...args] = this.#told.apiServer.command;
    this.#apiServer = this.processes.start("kube-apiserver", program, args);
    await this.processes.until("the API server to be ready", () => isReady(this));
  }

  /** Stops what was started on it; etcd ends with the emulator. */
  async stop(): Promise<void> {
    await this.processes.stopAll();
  }
}
