import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import {
  CreateClusterCommand,
  DescribeClusterCommand,
  EKSClient,
  type VpcConfigRequest,
} from "@aws-sdk/client-eks";
import type { Duration } from "../../../lambda/core/duration.ts";
import { buildControlPlane, buildPython, program } from "../engines/build.ts";
import { ControlPlane } from "../engines/control-plane.ts";
import { onFreePorts } from "../engines/ports.ts";
import { Processes, type Started, until } from "../engines/processes.ts";

export const region = "us-east-1";
export const account = "000000000000";

/** Delays and limits of AWS that a plain emulator lacks; the emulator's files in Python describe each. */
export const allAwsBehaviour = [
  "access-entries-late",
  "admins-late",
  "roles-late",
  "endpoints-closed",
  "quiet-queues-wait",
  "concurrency-low",
  "one-shots-late",
  "past-one-shots-lost",
  "tags-late",
  "events-unordered",
  "logs-late",
  "stacks-unordered",
] as const;
/** Accounts that refuse a holder, and what AWS never does; for tests that must detect it. */
const faults = [
  "config-map-only",
  "calls-denied",
  "calls-throttled",
  "subnets-closed",
  "private-endpoints-cut",
] as const;
export type AwsBehaviour = (typeof allAwsBehaviour)[number] | (typeof faults)[number];

/** AWS on loopback: deploys the unchanged stack, runs its functions, enforces IAM on request. */
export class Emulator {
  readonly endpoint: string;
  readonly folder: string;
  /** Environment variables with which AWS clients, the CDK CLI and our command line reach it. */
  readonly env: Readonly<Record<string, string>>;
  readonly #processes: Processes;
  /** The control planes of its clusters, by port. */
  readonly #planes = new Map<number, Promise<ControlPlane>>();
  readonly #ahead: string;
  readonly #behaviourFile: string;
  #iam = "relaxed";
  #started: Started | undefined;

  private constructor(port: number, behaviour: readonly AwsBehaviour[]) {
    this.endpoint = `http://127.0.0.1:${port}`;
    this.#processes = new Processes("emulator");
    this.folder = this.#processes.folder;
    this.#ahead = join(this.folder, "cloudwatch-ahead");
    writeFileSync(this.#ahead, "0");
    this.#behaviourFile = join(this.folder, "behaviour");
    this.setBehaviour(behaviour);
    this.env = {
      AWS_ENDPOINT_URL: this.endpoint,
      AWS_ENDPOINT_URL_S3: this.endpoint,
      AWS_REGION: region,
      AWS_DEFAULT_REGION: region,
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      CDK_DEFAULT_ACCOUNT: account,
      CDK_DEFAULT_REGION: region,
    };
  }

  /** Builds what is needed and starts; it is ready when this returns. */
  static async start(behaviour: readonly AwsBehaviour[] = []): Promise<Emulator> {
    await buildControlPlane();
    const python = join(await buildPython("emulator"), "python");
    return onFreePorts(1, async ([port = 0]) => {
      const emulator = new Emulator(port, behaviour);
      try {
        emulator.#run(python);
        await emulator.#processes.until("the emulator to answer", () => emulator.#answers());
        return emulator;
      } catch (error) {
        await emulator.stop();
        throw error;
      }
    });
  }

  #run(python: string): void {
    // Functions are unpacked below this folder. As in Lambda, no package.json may turn their scripts into ES modules.
    writeFileSync(join(this.folder, "package.json"), JSON.stringify({ type: "commonjs" }));
    const started = this.#processes.start("emulator", python, [join(import.meta.dirname, "emulator.py")], {
      PROGRAMS: dirname(program("kubectl")),
      PATH: nodeFirst,
      GATEWAY_PORT: new URL(this.endpoint).port,
      BIND_HOST: "127.0.0.1",
      MINISTACK_HOST: "127.0.0.1",
      MINISTACK_ACCOUNT_ID: account,
      MINISTACK_REGION: region,
      S3_DATA_DIR: join(this.folder, "s3"),
      CLOUDTRAIL_RECORDING: "1",
      CLOUDWATCH_AHEAD: this.#ahead,
      BEHAVIOUR_FILE: this.#behaviourFile,
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONUNBUFFERED: "1",
    });
    this.#started = started;
    if (started.child.stdout)
      createInterface(started.child.stdout).on("line", (line) => this.#readReport(line));
  }

  #answers(): Promise<boolean> {
    return fetch(`${this.endpoint}/_ministack/health`).then(
      (answer) => answer.ok,
      () => false,
    );
  }

  /** An EKS cluster with a real control plane. */
  async createCluster(name: string, resourcesVpcConfig: VpcConfigRequest = {}): Promise<ControlPlane> {
    const eks = this.client(EKSClient);
    const { cluster } = await eks.send(
      new CreateClusterCommand({
        name,
        roleArn: `arn:aws:iam::${account}:role/eks`,
        resourcesVpcConfig,
        accessConfig: {
          authenticationMode: "API_AND_CONFIG_MAP",
          bootstrapClusterCreatorAdminPermissions: false,
        },
      }),
    );
    const port = Number(new URL(cluster?.endpoint ?? "").port);
    await until(`the emulator to ask for the control plane of ${name}`, async () => this.#planes.has(port));
    const plane = await this.#planes.get(port);
    if (!plane) throw new Error(`${name} has no control plane`);
    const isActive = async () =>
      (await eks.send(new DescribeClusterCommand({ name }))).cluster?.status === "ACTIVE";
    await until(`cluster ${name} to be active`, isActive);
    return plane;
  }

  /** Moves only CloudWatch's clock: all metrics become older by this, and there are none since. */
  advanceAlarms(by: Duration): void {
    const seconds = Number(readFileSync(this.#ahead, "utf8")) + by / 1000;
    replaceFile(this.#ahead, String(seconds));
  }

  /** Turns these switches on and all others off. */
  setBehaviour(behaviour: readonly AwsBehaviour[]): void {
    replaceFile(this.#behaviourFile, behaviour.join("\n"));
  }

  /** A client of the AWS SDK that talks to this emulator. */
  client<C>(Client: ClientOf<C>, credentials: Credentials = root): C {
    return new Client({ endpoint: this.endpoint, region, credentials });
  }

  /** From now on a role can do only what its policies allow. */
  async enforceIam(): Promise<void> {
    await this.#setIam("SIGUSR1", "enforced");
  }

  async relaxIam(): Promise<void> {
    await this.#setIam("SIGUSR2", "relaxed");
  }

  async stop(): Promise<void> {
    for (const plane of await Promise.allSettled(this.#planes.values()))
      if (plane.status === "fulfilled") await plane.value.stop();
    await this.#processes.stopAll();
  }

  async #setIam(signal: NodeJS.Signals, wanted: string): Promise<void> {
    this.#started?.child.kill(signal);
    await until(`IAM to be ${wanted}`, async () => this.#iam === wanted);
  }

  #readReport(line: string): void {
    if (!line.startsWith("{")) return;
    const fact = JSON.parse(line);
    if (typeof fact.iam === "string") this.#iam = fact.iam;
    if (typeof fact.webhook === "string") this.#startPlane(fact.port, fact.webhook);
    if (typeof fact.stopped === "number") void this.#planes.get(fact.stopped)?.then((plane) => plane.stop());
  }

  #startPlane(port: number, webhook: string): void {
    const starting = ControlPlane.start({ port, webhook });
    this.#planes.set(port, starting);
    const file = join(this.folder, `${port}.kubeconfig`);
    starting.then(
      (plane) => replaceFile(file, readFileSync(plane.kubeconfig(), "utf8")),
      () => {}, // createCluster reports it
    );
  }
}

/** Replaces the file in one step, because the emulator may read it at any moment. */
function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.next`, text);
  renameSync(`${path}.next`, path);
}

/** A PATH with our Node first: functions run as local processes under the first node found. */
export const nodeFirst = `${dirname(process.execPath)}:${process.env.PATH}`;

type Credentials = Readonly<{ accessKeyId: string; secretAccessKey: string; sessionToken?: string }>;
export type ClientOf<C> = new (config: { endpoint: string; region: string; credentials: Credentials }) => C;
const root: Credentials = { accessKeyId: "test", secretAccessKey: "test" };
