import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import {
  CreateAccessEntryCommand,
  CreateClusterCommand,
  DeleteAccessEntryCommand,
  DescribeClusterCommand,
  EKSClient,
  type VpcConfigRequest,
} from "@aws-sdk/client-eks";
import type { Duration } from "../../../lambda/core/duration.ts";
import { guard } from "../../support/guarded.ts";
import { buildControlPlane, buildPython, program } from "../engines/build.ts";
import { EksPlane, type PlaneTold } from "../engines/eks-plane.ts";
import { onFreePorts } from "../engines/ports.ts";
import { Processes, type Started, until } from "../engines/processes.ts";

export const region = "us-east-1";
export const account = "000000000000";

/** Behaviour of AWS that makes deployments fail which work on a plain emulator; emulator_unkind.py describes each. */
export const unkindBehaviour = [
  "access-entries-late",
  "admins-late",
  "endpoints-closed",
  "quiet-queues-wait",
  "concurrency-low",
  "past-one-shots-lost",
  "tags-late",
  "events-unordered",
] as const;
/** What AWS never does; for those who must notice it. */
const faults = ["one-shots-lost"] as const;
export type Unkind = (typeof unkindBehaviour)[number] | (typeof faults)[number];

/** AWS on loopback: deploys the unchanged stack, runs its functions, enforces IAM when told to. */
export class Emulator {
  readonly endpoint: string;
  readonly folder: string;
  /** What every AWS client, the CDK CLI and our own command line need to reach it. */
  readonly env: Readonly<Record<string, string>>;
  readonly #processes: Processes;
  readonly #planes: PlaneTold[] = [];
  readonly #clusters: EksPlane[] = [];
  readonly #ahead: string;
  readonly #unkind: string;
  #iam = "relaxed";
  #started: Started | undefined;

  private constructor(port: number, unkind: readonly Unkind[]) {
    this.endpoint = `http://127.0.0.1:${port}`;
    this.#processes = new Processes("emulator");
    this.folder = this.#processes.folder;
    // In Lambda no package.json lies above a function's code; ours would turn its scripts into modules.
    writeFileSync(join(this.folder, "package.json"), "{}");
    this.#ahead = join(this.folder, "cloudwatch-ahead");
    writeFileSync(this.#ahead, "0");
    this.#unkind = join(this.folder, "unkind");
    this.setUnkind(unkind);
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

  /** Builds what is needed and starts; answers when it returns. */
  static async start(unkind: readonly Unkind[] = []): Promise<Emulator> {
    await buildControlPlane();
    await buildPython("emulator");
    return onFreePorts(1, async ([port = 0]) => {
      const emulator = new Emulator(port, unkind);
      try {
        await emulator.resume();
        return emulator;
      } catch (error) {
        await emulator.stop();
        throw error;
      }
    });
  }

  get isRunning(): boolean {
    return this.#started !== undefined;
  }

  /** Takes AWS away; what it keeps is kept. Its clusters end with it, so this is for those who have none. */
  async pause(): Promise<void> {
    if (this.#started) await this.#processes.stop(this.#started, "SIGTERM", 30_000);
    this.#started = undefined;
  }

  /** Also used to bring it back after `pause`; same address, same state. */
  async resume(): Promise<void> {
    this.#run(join(await buildPython("emulator"), "python"));
    await this.#processes.until("the emulator to answer", () => this.#answers());
  }

  #run(python: string): void {
    // Functions are unpacked below this folder, and their files must not be taken for modules of our own package.
    writeFileSync(join(this.folder, "package.json"), JSON.stringify({ type: "commonjs" }));
    const started = this.#processes.start("emulator", python, [join(import.meta.dirname, "emulator.py")], {
      PROGRAMS: dirname(program("kubectl")),
      GUARD: guard,
      PATH: nodeFirst,
      GATEWAY_PORT: new URL(this.endpoint).port,
      BIND_HOST: "127.0.0.1",
      MINISTACK_HOST: "127.0.0.1",
      MINISTACK_ACCOUNT_ID: account,
      MINISTACK_REGION: region,
      PERSIST_STATE: "1",
      STATE_DIR: join(this.folder, "state"),
      S3_DATA_DIR: join(this.folder, "s3"),
      CLOUDTRAIL_RECORDING: "1",
      CLOUDWATCH_AHEAD: this.#ahead,
      UNKIND: this.#unkind,
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONUNBUFFERED: "1",
    });
    this.#started = started;
    if (started.child.stdout) createInterface(started.child.stdout).on("line", (line) => this.#hear(line));
  }

  #answers(): Promise<boolean> {
    return fetch(`${this.endpoint}/_ministack/health`).then(
      (answer) => answer.ok,
      () => false,
    );
  }

  /** An EKS cluster with a real control plane. */
  async createCluster(name: string, resourcesVpcConfig: VpcConfigRequest = {}): Promise<EksPlane> {
    const eks = this.client(EKSClient);
    await eks.send(
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
    let server: string | undefined;
    await until(`cluster ${name} to be active`, async () => {
      const { cluster } = await eks.send(new DescribeClusterCommand({ name }));
      if (cluster?.status === "FAILED")
        throw new Error(`cluster ${name} failed to start: see ${this.#started?.log}`);
      server = cluster?.endpoint;
      return cluster?.status === "ACTIVE";
    });
    const port = new URL(server ?? "").port;
    const find = () => this.#planes.find((each) => new URL(each.server).port === port);
    // Its answer may come sooner than the line it tells us beside.
    await until(`the emulator to tell of ${name}`, async () => find() !== undefined);
    const told = find();
    if (!told) throw new Error(`the emulator has forgotten ${name}`);
    const plane = new EksPlane(name, told);
    this.#clusters.push(plane);
    return plane;
  }

  /** Lets a role into a cluster as a member of a group. */
  async admit(clusterName: string, principalArn: string, group: string): Promise<void> {
    const entry = { clusterName, principalArn, kubernetesGroups: [group] };
    await this.client(EKSClient).send(new CreateAccessEntryCommand(entry));
  }

  /** Lets a role in no longer; an API server remembers whom it let in for ten seconds. */
  async shut(clusterName: string, principalArn: string): Promise<void> {
    await this.client(EKSClient).send(new DeleteAccessEntryCommand({ clusterName, principalArn }));
    await sleep(11_000);
  }

  /** Time passes for metrics and alarms, and for nothing else: what was told is so much older, and nothing was told since. */
  letAlarmsAge(by: Duration): void {
    const seconds = Number(readFileSync(this.#ahead, "utf8")) + by / 1000;
    replaceFile(this.#ahead, String(seconds));
  }

  /** From now on it behaves in these ways, and in no others, as AWS does. */
  setUnkind(behaviour: readonly Unkind[]): void {
    replaceFile(this.#unkind, behaviour.join("\n"));
  }

  /** A client of the AWS SDK that talks to this emulator. */
  client<C>(Client: new (config: { endpoint: string; region: string; credentials: Credentials }) => C): C {
    return new Client({
      endpoint: this.endpoint,
      region,
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
    });
  }

  /** From now on a role can do what its policies allow, and no more. */
  async enforceIam(): Promise<void> {
    await this.#setIam("SIGUSR1", "enforced");
  }

  async relaxIam(): Promise<void> {
    await this.#setIam("SIGUSR2", "relaxed");
  }

  async stop(): Promise<void> {
    for (const plane of this.#clusters) await plane.stop();
    await this.#processes.stopAll();
  }

  async #setIam(signal: NodeJS.Signals, wanted: string): Promise<void> {
    this.#started?.child.kill(signal);
    await until(`IAM to be ${wanted}`, async () => this.#iam === wanted, 10_000);
  }

  #hear(line: string): void {
    if (!line.startsWith("{")) return;
    const fact = JSON.parse(line);
    if (typeof fact.iam === "string") this.#iam = fact.iam;
    if (typeof fact.server === "string") this.#planes.push(fact);
  }
}

/** In one step, because the emulator may read it at any moment. */
function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.next`, text);
  renameSync(`${path}.next`, path);
}

/** Functions run as local processes under the first node there is, so that must be ours. */
export const nodeFirst = `${dirname(process.execPath)}:${process.env.PATH}`;

type Credentials = Readonly<{ accessKeyId: string; secretAccessKey: string }>;
