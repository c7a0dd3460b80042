import { CoreV1Api, type KubeConfig } from "@kubernetes/client-node";
import { vi } from "vitest";
import { commandLine } from "../../../cli/command-line.ts";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import { CollectedTerminal } from "../../support/collected-terminal.ts";
import { Cdk } from "../deployed/stack.ts";
import { Emulator } from "../emulator/emulator.ts";

export type ReportedFinding = Readonly<{
  link: string;
  verdict: string;
  what: string;
  remedy?: string;
  fix?: string;
}>;
type Ended = Readonly<{ exit: number; output: string; errors: string }>;

/** A holder deployed by the CDK CLI for a real control plane, and our command line. */
export class OperatedCluster {
  readonly name: string;
  readonly emulator: Emulator;
  readonly kubernetes: KubeConfig;
  readonly kubeconfig: string;
  readonly core: CoreV1Api;

  private constructor(name: string, emulator: Emulator, kubernetes: KubeConfig, kubeconfig: string) {
    this.name = name;
    this.emulator = emulator;
    this.kubernetes = kubernetes;
    this.kubeconfig = kubeconfig;
    this.core = kubernetes.makeApiClient(CoreV1Api);
  }

  static async start(name: string): Promise<OperatedCluster> {
    const emulator = await Emulator.start();
    try {
      for (const [key, value] of Object.entries(emulator.env)) vi.stubEnv(key, value);
      const plane = await emulator.createCluster(name);
      const cdk = new Cdk(emulator);
      await cdk.bootstrap();
      await cdk.deploy({ cluster: name });
      return new OperatedCluster(name, emulator, plane.config(), plane.kubeconfig());
    } catch (error) {
      await emulator.stop();
      throw error;
    }
  }

  /** Creates a node with Karpenter's labels. */
  async addNode(name: string, nodePool = "default"): Promise<void> {
    const { poolLabel, registeredLabel } = Karpenter.v1;
    const body = { metadata: { name, labels: { [poolLabel]: nodePool, [registeredLabel]: "true" } } };
    await this.core.createNode({ body });
  }

  /** Runs a command for this cluster. */
  async run(...words: string[]): Promise<Ended> {
    const terminal = new CollectedTerminal(this.emulator.env);
    const clusterFlag = words.includes("--cluster") ? [] : ["--cluster", this.name];
    const exit = await commandLine([...words, ...clusterFlag], terminal);
    return { exit, output: terminal.output, errors: terminal.reported };
  }

  /** doctor's findings and exit code. */
  async doctor(
    ...words: string[]
  ): Promise<Readonly<{ exit: number; findings: readonly ReportedFinding[] }>> {
    const { exit, output } = await this.run("doctor", "-o", "json", ...words);
    return { exit, findings: JSON.parse(output).findings };
  }

  async stop(): Promise<void> {
    vi.unstubAllEnvs();
    await this.emulator.stop();
  }
}
