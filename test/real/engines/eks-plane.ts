import type { KubeConfig } from "@kubernetes/client-node";
import { isReady, loadConfig, type Plane, runKubectl } from "./control-plane.ts";
import { isFree } from "./ports.ts";
import { Processes, type Started, until } from "./processes.ts";

/** What the emulator reports about a control plane that it started for an EKS cluster. */
export type StartedPlane = Readonly<{
  server: string;
  kubeconfig: string;
  apiServer: Readonly<{ pid: number; command: readonly string[] }>;
}>;

/** The control plane of an EKS cluster: the emulator's child, whose API server can be stopped and started again. */
export class EksPlane implements Plane {
  readonly server: string;
  readonly processes: Processes;
  readonly #started: StartedPlane;
  #apiServer: Started | "the emulator's" | "stopped" = "the emulator's";

  constructor(name: string, started: StartedPlane) {
    this.#started = started;
    this.server = started.server;
    this.processes = new Processes(`eks-${name}`);
  }

  get folder(): string {
    return this.processes.folder;
  }

  kubeconfig(): string {
    return this.#started.kubeconfig;
  }

  config(): KubeConfig {
    return loadConfig(this.kubeconfig());
  }

  async kubectl(args: readonly string[]): Promise<string> {
    return runKubectl(this.kubeconfig(), args);
  }

  /** Kills the API server. */
  async stopApiServer(): Promise<void> {
    if (this.#apiServer === "the emulator's") process.kill(this.#started.apiServer.pid, "SIGKILL");
    else if (this.#apiServer !== "stopped") await this.processes.stop(this.#apiServer, "SIGKILL");
    this.#apiServer = "stopped";
    await until("the API server's port to be free", () => isFree(Number(new URL(this.server).port)));
  }

  /** Starts it if it is stopped: same address, same data. */
  async startApiServer(): Promise<void> {
    if (this.#apiServer !== "stopped") return;
    const [program = "", ...args] = this.#started.apiServer.command;
    this.#apiServer = this.processes.start("kube-apiserver", program, args);
    await this.processes.until("the API server to be ready", () => isReady(this));
  }

  /** Stops what this class started; etcd ends with the emulator. */
  async stop(): Promise<void> {
    await this.processes.stopAll();
  }
}
