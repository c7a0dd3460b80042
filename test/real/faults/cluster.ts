import { readFileSync } from "node:fs";
import { BareLoop } from "../../../lab/bench/bare-loop.ts";
import { apiServerOf, createNodes, installRights, nodeNames } from "../../../lab/bench/nodes-on-plane.ts";
import { holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { ClusterAccess, ClusterLogin } from "../../../lambda/kubernetes/transport.ts";
import { ControlPlane, tokenOf } from "../engines/control-plane.ts";
import { until } from "../engines/processes.ts";

const { annotation } = Karpenter.v1;
const count = 48;

/** Numbers of nodes with a complete mark, with half a mark, and with only a user's annotation. */
export type Marks = Readonly<{ held: number; half: number; users: number }>;
/** All nodes are marked except the one with a user's annotation. */
export const all: Marks = { held: count - 1, half: 0, users: 1 };
export const none: Marks = { held: 0, half: 0, users: 1 };

/** An API server with nodes, which is killed, and whose login of the holder changes. */
export class FaultyCluster {
  readonly #plane: ControlPlane;
  /** The holder's valid token. */
  #token = tokenOf("holder");
  #isRefused = false;

  private constructor(plane: ControlPlane) {
    this.#plane = plane;
  }

  static async start(): Promise<FaultyCluster> {
    const plane = await ControlPlane.start();
    try {
      const loop = new BareLoop(apiServerOf(plane, "admin"), 16);
      await createNodes(loop, nodeNames(count));
      loop.close();
      await installRights(plane);
      await plane.kubectl(["annotate", "node", "node-000007", `${annotation}=true`]);
      return new FaultyCluster(plane);
    } catch (error) {
      await plane.stop();
      throw error;
    }
  }

  /** A login that knows the present token until it is refused. */
  login(): ClusterLogin {
    let known: ClusterAccess | undefined;
    const tls = { ca: readFileSync(`${this.#plane.folder}/certs/apiserver.crt`, "utf8") };
    const access = async () => {
      const headers = { authorization: `Bearer ${this.#token}` };
      known ??= { server: this.#plane.server, tls, headers };
      return known;
    };
    const refresh = () => {
      known = undefined;
    };
    return { access, refresh };
  }

  kill(): Promise<void> {
    return this.#plane.stopApiServer();
  }

  /** Returns when the holder's rights are in effect: an API server that is starting answers 403 for a moment. */
  async start(): Promise<void> {
    await this.#plane.startApiServer();
    const asHolder = ["--as=holder", "--as-group=karpenter-node-holder"];
    const may = () => this.#plane.kubectl(["auth", "can-i", "patch", "nodes", ...asHolder]);
    await until("the API server to know the holder's rights", () =>
      may().then(
        (answer) => answer.trim() === "yes",
        () => false,
      ),
    );
  }

  /** Restarts the API server with this token for the holder; without a token it refuses the holder. */
  async restart(token?: string): Promise<void> {
    await this.kill();
    this.#isRefused = token === undefined;
    this.#token = token ?? this.#token;
    this.#plane.setTokens({ admin: tokenOf("admin"), ...(token !== undefined && { holder: token }) });
    await this.start();
  }

  /** Repairs what a case has broken. */
  async repair(): Promise<void> {
    if (this.#isRefused || !this.#plane.isServing) await this.restart(this.#token);
  }

  async marks(): Promise<Marks> {
    const { items } = JSON.parse(await this.#plane.kubectl(["get", "nodes", "--output", "json"]));
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

  stop(): Promise<void> {
    return this.#plane.stop();
  }
}
