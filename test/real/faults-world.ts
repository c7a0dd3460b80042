import { readFileSync } from "node:fs";
import { BareLoop } from "../../bench/bare-loop.ts";
import { createNodes, doorOf, nodeNames } from "../../bench/nodes-on-plane.ts";
import type { ClusterAccess } from "../../lambda/adapters/cluster-login.ts";
import { holdLabel, Karpenter } from "../../lambda/adapters/keys.ts";
import { KubernetesAccess } from "../../lambda/adapters/kubernetes-access.ts";
import { KubernetesClient } from "../../lambda/adapters/kubernetes-client.ts";
import { KubernetesNodes } from "../../lambda/adapters/kubernetes-nodes.ts";
import { holdIds } from "../../lambda/adapters/system-clock.ts";
import { after, type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import type { Ports } from "../../lambda/core/ports.ts";
import { onHoldExpired } from "../../lambda/handlers/hold-expired.ts";
import { onNodeLaunched } from "../../lambda/handlers/node-launched.ts";
import { onOverdueSwept } from "../../lambda/handlers/overdue-swept.ts";
import type { OpenHolds } from "../contracts/holds.ts";
import { someRules } from "../support/builders.ts";
import { CollectedLog, CollectedMetrics } from "../support/collected-log.ts";
import { dynamodbStore } from "../support/dynamodb-store.ts";
import { clientOf } from "../support/kubernetes-nodes-world.ts";
import { MemoryLater } from "../support/memory-later.ts";
import { MemoryLaunches } from "../support/memory-launches.ts";
import { MemorySchedules } from "../support/memory-schedules.ts";
import { ControlPlane, tokenOf } from "./control-plane.ts";
import { startDynamoDbLocal } from "./dynamodb-local.ts";
import { FaultyProxy } from "./faulty-proxy.ts";

const { annotation, poolLabel } = Karpenter.v1;
const count = 300;

/** The functions' handlers on a real API server and AWS's own DynamoDB, with a proxy before each that can fail. */
export class FaultsWorld {
  readonly kubernetes: FaultyProxy;
  readonly dynamodb: FaultyProxy;
  readonly log = new CollectedLog();
  readonly metrics = new CollectedMetrics();
  readonly schedules = new MemorySchedules();
  readonly launches = new MemoryLaunches();
  readonly plane: ControlPlane;
  #ahead: Duration = 0;
  #launched = 0;
  readonly #later: MemoryLater;
  readonly #ports: Ports;
  readonly #store: OpenHolds;
  readonly #stopDatabase: () => Promise<void>;

  readonly clock = { now: () => new Date(Date.now() + this.#ahead) };

  static async start(): Promise<FaultsWorld> {
    const plane = await ControlPlane.start();
    const database = await startDynamoDbLocal();
    const ca = readFileSync(`${plane.folder}/certs/apiserver.crt`, "utf8");
    const admin: ClusterAccess = {
      server: plane.server,
      tls: { ca },
      headers: { authorization: `Bearer ${tokenOf("admin")}` },
    };
    const real = { now: () => new Date() };
    await new KubernetesAccess({ api: clientOf(admin), clock: real, log: new CollectedLog() }).write([
      annotation,
    ]);
    const loop = new BareLoop(doorOf(plane, "admin"), 16);
    await createNodes(loop, nodeNames(count));
    loop.close();
    await plane.kubectl(["annotate", "node", "node-000007", `${annotation}=true`]);
    const kubernetes = await FaultyProxy.start(plane.server, ca);
    const dynamodb = await FaultyProxy.start(database.endpoint);
    const credentials = { accessKeyId: "local", secretAccessKey: "local" };
    const store = await dynamodbStore(
      { endpoint: dynamodb.url, region: "eu-west-1", credentials, maxAttempts: 2 },
      real,
    );
    return new FaultsWorld({ plane, kubernetes, dynamodb, store, stopDatabase: database.stop });
  }

  private constructor(engines: {
    plane: ControlPlane;
    kubernetes: FaultyProxy;
    dynamodb: FaultyProxy;
    store: OpenHolds;
    stopDatabase: () => Promise<void>;
  }) {
    const { plane, kubernetes, dynamodb, store } = engines;
    this.plane = plane;
    this.kubernetes = kubernetes;
    this.dynamodb = dynamodb;
    this.#store = store;
    this.#stopDatabase = engines.stopDatabase;
    this.#later = new MemoryLater(this.clock);
    const { clock, log, metrics, launches, schedules } = this;
    const access = async () => ({
      server: kubernetes.url,
      tls: {},
      headers: { authorization: `Bearer ${tokenOf("holder")}` },
    });
    const api = new KubernetesClient({ login: { access, refresh: () => {} }, clock, metrics });
    const nodePools = { only: [], except: [] };
    this.#ports = {
      rules: someRules({ hold: minutes(20) }),
      holds: store.holds,
      journal: store.journal,
      nodes: new KubernetesNodes({ api, poolLabel, annotation, nodePools, clock, log, metrics }),
      launches,
      schedules,
      later: this.#later,
      clock,
      ids: holdIds,
      log,
      metrics,
    };
  }

  /** A launch told by the bus; what fails comes again once, as the queue would bring it. */
  aLaunch(): () => Promise<"done" | "failed"> {
    this.#launched += 1;
    const id = `i-${this.#launched.toString(16).padStart(17, "f")}`;
    const at = this.clock.now();
    this.launches.add(id, at, "default");
    const detail = { "instance-id": id, state: "pending" };
    const body = JSON.stringify({ source: "aws.ec2", time: at.toISOString(), detail });
    const event = { Records: [{ messageId: id, attributes: { SentTimestamp: String(at.getTime()) }, body }] };
    return () => outcome(onNodeLaunched(this.#ports)(event, this.#deadline()));
  }

  /** Fires the one-shots that are due; one that fails is invoked again by its caller. */
  async expire(): Promise<"done" | "failed"> {
    let result: "done" | "failed" = "done";
    for (const { scope, holdId, at } of this.schedules.takeDue(this.clock.now())) {
      const done = await outcome(onHoldExpired(this.#ports)({ scope, holdId }, this.#deadline()));
      if (done === "failed") this.schedules.armed.set(`${holdId}-again`, { scope, holdId, at });
      if (done === "failed") result = "failed";
    }
    return result;
  }

  sweep(): Promise<"done" | "failed"> {
    return outcome(onOverdueSwept(this.#ports)({}, this.#deadline()));
  }

  pass(time: Duration): void {
    this.#ahead += time;
  }

  /** How many nodes carry a whole mark, half a mark, or the annotation without one. */
  async marks(): Promise<Readonly<{ held: number; half: number; users: number }>> {
    const { items } = JSON.parse(await this.plane.kubectl(["get", "nodes", "-o", "json"]));
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

  /** Whether anything was told that an alarm would be made of. */
  isAlarmWorthy(): boolean {
    return (
      this.metrics.total("NodePatchFailures") > 0 || this.log.lines.some(({ level }) => level === "error")
    );
  }

  async hold() {
    return (await this.#store.holds.find("cluster"))?.hold;
  }

  async stop(): Promise<void> {
    await this.kubernetes.stop();
    await this.#store.close();
    await this.dynamodb.stop();
    await this.#stopDatabase();
    await this.plane.stop();
  }

  #deadline(): Date {
    return after(this.clock.now(), seconds(20));
  }
}

/** All nodes but the one that its user holds. */
export const all = { held: count - 1, half: 0, users: 1 };
export const none = { held: 0, half: 0, users: 1 };

const outcome = (work: Promise<unknown>): Promise<"done" | "failed"> =>
  work.then(
    () => "done",
    () => "failed",
  );
