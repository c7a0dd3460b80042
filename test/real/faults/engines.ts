import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { BareLoop } from "../../../lab/bench/bare-loop.ts";
import { apiServerOf, createNodes, nodeNames } from "../../../lab/bench/nodes-on-plane.ts";
import { KubernetesAccess } from "../../../lambda/cluster-access/cluster-rights.ts";
import { minutes } from "../../../lambda/core/duration.ts";
import { holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { ClusterAccess } from "../../../lambda/kubernetes/transport.ts";
import { buildStaleFunctions } from "../../../scripts/bundles.ts";
import { CollectedLog } from "../../../simulator/collected-log.ts";
import { karpentersLabels } from "../../../simulator/fake-ec2.ts";
import { clientOf } from "../../contracts/cluster-nodes.ts";
import { within } from "../../support/context.ts";
import { Instances, karpentersTags } from "../deployed/instances.ts";
import { Emulator } from "../emulator/emulator.ts";
import { ControlPlane, tokenOf } from "../engines/control-plane.ts";
import { startDynamoDbLocal } from "../engines/dynamodb-local.ts";
import { until } from "../engines/processes.ts";
import { FaultyProxy } from "./faulty-proxy.ts";

const { annotation } = Karpenter.v1;
const count = 48;
export const credentials = { accessKeyId: "local", secretAccessKey: "local" };

/** Numbers of nodes with a complete mark, with half a mark, and with only a user's annotation. */
export type Marks = Readonly<{ held: number; half: number; users: number }>;
/** All nodes are marked except the one with a user's annotation. */
export const all: Marks = { held: count - 1, half: 0, users: 1 };
export const none: Marks = { held: 0, half: 0, users: 1 };

/** An API server with nodes, DynamoDB Local, an emulated Scheduler and EC2, each behind a proxy that injects faults. */
export class FaultsEngines {
  readonly plane: ControlPlane;
  readonly emulator: Emulator;
  readonly database: string;
  readonly kubernetes: FaultyProxy;
  readonly dynamodb: FaultyProxy;
  readonly scheduler: FaultyProxy;
  readonly ec2: FaultyProxy;
  /** The API server's certificate, for connections without the proxy. */
  readonly ca: string;
  /** The holder's valid token. */
  token = tokenOf("holder");
  #isRefused = false;
  readonly #stops: readonly (() => Promise<void>)[];

  static async start(): Promise<FaultsEngines> {
    await buildStaleFunctions();
    const stops: (() => Promise<void>)[] = [];
    const kept = <T>(stop: (it: T) => Promise<void>, it: T): T => {
      stops.unshift(() => stop(it));
      return it;
    };
    try {
      const plane = kept((it) => it.stop(), await ControlPlane.start());
      const database = kept((it) => it.stop(), await startDynamoDbLocal());
      const emulator = kept((it) => it.stop(), await Emulator.start());
      const ca = readFileSync(`${plane.folder}/certs/apiserver.crt`, "utf8");
      const proxy = async (target: string, trusted?: string) =>
        kept((it) => it.stop(), await FaultyProxy.start(target, trusted));
      const proxies = {
        kubernetes: await proxy(plane.server, ca),
        dynamodb: await proxy(database.endpoint),
        scheduler: await proxy(emulator.endpoint),
        ec2: await proxy(emulator.endpoint),
      };
      const engines = new FaultsEngines(
        { plane, emulator, ca, database: database.endpoint, ...proxies },
        stops,
      );
      await engines.#prepareCluster();
      return engines;
    } catch (error) {
      for (const stop of stops) await stop();
      throw error;
    }
  }

  private constructor(
    parts: Pick<
      FaultsEngines,
      "plane" | "emulator" | "ca" | "database" | "kubernetes" | "dynamodb" | "scheduler" | "ec2"
    >,
    stops: readonly (() => Promise<void>)[],
  ) {
    this.plane = parts.plane;
    this.emulator = parts.emulator;
    this.ca = parts.ca;
    this.database = parts.database;
    this.kubernetes = parts.kubernetes;
    this.dynamodb = parts.dynamodb;
    this.scheduler = parts.scheduler;
    this.ec2 = parts.ec2;
    this.#stops = stops;
  }

  /** Restarts the API server with this token for the holder; without a token it refuses the holder. */
  async restartApiServer(token?: string): Promise<void> {
    await this.plane.stopApiServer();
    this.#isRefused = token === undefined;
    this.token = token ?? this.token;
    this.plane.setTokens({ admin: tokenOf("admin"), ...(token !== undefined && { holder: token }) });
    await this.startApiServer();
  }

  /** Returns when the holder's rights are in effect: an API server that is starting answers 403 for a moment. */
  async startApiServer(): Promise<void> {
    await this.plane.startApiServer();
    const holder = ["--as=holder", "--as-group=karpenter-node-holder"];
    const may = () =>
      this.plane.kubectl(["auth", "can-i", "patch", "nodes", ...holder]).then(isYes, () => false);
    await until("the API server to know the holder's rights", may);
  }

  /** Repairs all that a case has broken. */
  async reset(): Promise<void> {
    for (const proxy of [this.kubernetes, this.dynamodb, this.scheduler, this.ec2]) proxy.reset();
    if (this.#isRefused || !this.plane.isServing) await this.restartApiServer(this.token);
  }

  async marks(): Promise<Marks> {
    const accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    const call = { method: "GET", path: "/api/v1/nodes", accept } as const;
    const { items } = Object(await this.#asAdmin((api) => api.call(call, soon())));
    const tally = { held: 0, half: 0, users: 0 };
    for (const { metadata } of items) {
      const isLabelled = metadata.labels?.[holdLabel] !== undefined;
      const isAnnotated = metadata.annotations?.[annotation] === "true";
      if (isLabelled && isAnnotated) tally.held += 1;
      else if (isLabelled) tally.half += 1;
      else if (isAnnotated) tally.users += 1;
    }
    return tally;
  }

  async isFree(): Promise<boolean> {
    return isDeepStrictEqual(await this.marks(), none);
  }

  /** Launches an instance as Karpenter does. */
  async launch(): Promise<string> {
    const [instance = ""] = await new Instances(this.emulator).launch(1, karpentersTags("prod"));
    return instance;
  }

  /** Registers the node of an instance; returns a function that deletes it. */
  async join(instance: string): Promise<() => Promise<void>> {
    const name = `joined-${instance}`;
    const metadata = { name, labels: karpentersLabels("v1", "default") };
    const body = { metadata, spec: { providerID: `aws:///us-east-1a/${instance}` } };
    await this.#asAdmin((api) => api.call({ method: "POST", path: "/api/v1/nodes", body }, soon()));
    return async () => {
      await this.#asAdmin((api) => api.call({ method: "DELETE", path: `/api/v1/nodes/${name}` }, soon()));
    };
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops) await stop();
  }

  async #prepareCluster(): Promise<void> {
    await this.#asAdmin((api) =>
      new KubernetesAccess({ api, clock: { now: () => new Date() }, log: new CollectedLog() }).write([
        annotation,
      ]),
    );
    const loop = new BareLoop(apiServerOf(this.plane, "admin"), 16);
    await createNodes(loop, nodeNames(count));
    loop.close();
    await this.plane.kubectl(["annotate", "node", "node-000007", `${annotation}=true`]);
  }

  async #asAdmin<T>(work: (api: ReturnType<typeof clientOf>) => Promise<T>): Promise<T> {
    const access: ClusterAccess = {
      server: this.plane.server,
      tls: { ca: this.ca },
      headers: { authorization: `Bearer ${tokenOf("admin")}` },
    };
    const api = clientOf(access);
    try {
      return await work(api);
    } finally {
      await api.close();
    }
  }
}

const isYes = (answer: string) => answer.trim() === "yes";
const soon = () => within(minutes(1));
