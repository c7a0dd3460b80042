import { Karpenter, type KarpenterGeneration } from "../../lambda/core/marks/keys.ts";
import type { CallContext, Changed } from "../../lambda/core/ports.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { KubernetesNodes } from "../../lambda/kubernetes/nodes.ts";
import type { ClusterLogin } from "../../lambda/kubernetes/transport.ts";
import { CollectedLog, CollectedMetrics } from "../../simulator/collected-log.ts";
import { karpentersLabels } from "../../simulator/fake-ec2.ts";
import { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { markListed, releaseListed } from "../contracts/nodes-world.ts";
import { within } from "../support/context.ts";

export type Asked = Readonly<{ method: string; path: string; query: URLSearchParams; accept: string }>;

/** Our adapter on a stand-in, with everything in reach of a test; waiting costs no time. */
export class NodesOnFakeServer {
  readonly log = new CollectedLog();
  readonly metrics = new CollectedMetrics();
  readonly asked: Asked[] = [];
  readonly pauses: number[] = [];
  /** What the clock shows beyond the real time. */
  ahead = 0;
  logins = 0;
  onRequest: (asked: Asked) => void = () => {};
  readonly #open = new Set<() => void>();
  readonly standIn: FakeKubernetesServer;
  readonly client: KubernetesClient;
  readonly nodes: KubernetesNodes;

  private constructor(standIn: FakeKubernetesServer, pageSize: number, karpenter: KarpenterGeneration) {
    this.standIn = standIn;
    const clock = { now: () => new Date(Date.now() + this.ahead) };
    const access = standIn.access();
    const login: ClusterLogin = {
      access: async () => access,
      refresh: () => {
        this.logins += 1;
      },
    };
    const { metrics } = this;
    const sleep = async (pause: number) => {
      this.pauses.push(pause);
      this.ahead += pause;
    };
    const timer = (end: () => void) => {
      this.#open.add(end);
      return () => this.#open.delete(end);
    };
    this.client = new KubernetesClient({ login, clock, metrics, sleep, timer });
    const { annotation } = Karpenter[karpenter];
    const nodePools = { only: [], except: [] };
    const about = { karpenter, annotation, nodePools, metrics, pageSize };
    this.nodes = new KubernetesNodes({ api: this.client, ...about });
  }

  static async open(pageSize = 2, karpenter: KarpenterGeneration = "v1"): Promise<NodesOnFakeServer> {
    let reported: NodesOnFakeServer | undefined;
    const onRequest = (asked: Asked) => {
      reported?.asked.push(asked);
      reported?.onRequest(asked);
    };
    reported = new NodesOnFakeServer(await FakeKubernetesServer.start({ onRequest }), pageSize, karpenter);
    return reported;
  }

  /** Karpenter's nodes of these names, registered. */
  add(...names: readonly string[]): void {
    for (const name of names) {
      const labels = karpentersLabels("v1", "default");
      this.standIn.addNode({ name, labels, providerId: `aws:///z/i-${name}` });
    }
  }

  /** Marks every node that this hold has not marked. */
  async mark(id = holdId(1), context = this.soon()): Promise<Changed> {
    return markListed(this.nodes, { holdId: id, context });
  }

  /** Releases every node that this hold has marked. */
  async release(id = holdId(1)): Promise<Changed> {
    return releaseListed(this.nodes, { holdId: id, context: this.soon() });
  }

  /** The time of every call under way is over; none runs out by itself, however slow the machine. */
  timeOut(): void {
    for (const end of this.#open) end();
  }

  soon(): CallContext {
    return within(this.ahead + 60_000, this.log);
  }

  async close(): Promise<void> {
    await this.client.close();
    await this.standIn.stop();
  }
}
