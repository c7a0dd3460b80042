import type { EKSClient } from "@aws-sdk/client-eks";
import { EksAccessEntries } from "../../lambda/cluster-access/access-entries.ts";
import { KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import type { AccessConfig } from "../../lambda/cluster-access/environment.ts";
import { onClusterAccessChanged } from "../../lambda/cluster-access/handler.ts";
import type { AccessPorts } from "../../lambda/cluster-access/ports.ts";
import { planMark } from "../../lambda/core/marks/plan-marks.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { changeNode } from "../../lambda/kubernetes/node-changes.ts";
import { parseNodeLife } from "../../lambda/kubernetes/node-objects.ts";
import { CollectedLog, CollectedMetrics } from "../../simulator/collected-log.ts";
import { FakeAccessObjects } from "../../simulator/fake-access-objects.ts";
import { FakeCluster } from "../../simulator/fake-kubernetes/fake-cluster.ts";
import { textsOf } from "../../simulator/fake-kubernetes/objects.ts";
import { FakeEks } from "./fake-eks.ts";

export const adminRole = "arn:aws:iam::123456789012:role/admin";
export const holdId = "20260131t093000-abcdef";

/** The function that installs the access, at work on a fake EKS and a fake cluster; its calls can fail or end. */
export class AccessWorld {
  readonly log = new CollectedLog();
  readonly cluster = new FakeCluster();
  /** Everything in the cluster beside nodes. */
  readonly access = new FakeAccessObjects();
  readonly eks = new FakeEks();
  /** Every call in order: of EKS by its command, of the cluster by method and path. */
  readonly calls: string[] = [];
  config: AccessConfig = {
    cluster: "prod",
    name: "blue",
    holdAnnotation: "karpenter.sh/do-not-disrupt",
    mode: "hold",
    auto: false,
    nodeEvents: false,
    adminRole,
    roles: ["arn:aws:iam::123456789012:role/hold", "arn:aws:iam::123456789012:role/sweep"],
  };
  workUntil = new Date(Date.now() + 600_000);
  /** Called before each call; what it throws is the call's error. */
  onCall: (call: string) => unknown = () => {};
  /** Called while API servers learn of a change. */
  onWait: () => Promise<void> = async () => {};
  readonly #client = this.eks.client();

  readonly metrics = new CollectedMetrics();
  #handler = this.#newHandler();

  get admins(): readonly string[] {
    return [...this.eks.entries].filter(([, { policies }]) => policies.size > 0).map(([role]) => role);
  }

  get rights(): KubernetesAccess {
    const clock = { now: () => new Date() };
    return new KubernetesAccess({
      api: this.#kubernetes(),
      clock,
      log: this.log,
      holder: this.config.name,
      mode: this.config.mode,
      nodeEvents: this.config.nodeEvents,
      until: this.workUntil,
      pageSize: 2,
      sleep: () => this.onWait(),
    });
  }

  get ports(): AccessPorts & { metrics: CollectedMetrics } {
    const send = async (command: never) => {
      await this.#count(Object(command).constructor.name.replace("Command", ""));
      return this.#client.send(command);
    };
    const { cluster, adminRole } = this.config;
    const entries = new EksAccessEntries({
      eks: { send } as unknown as EKSClient,
      cluster,
      adminRole,
      rights: this.rights,
      inVpc: false,
      clock: { now: () => new Date() },
      workUntil: this.workUntil,
      sleep: async () => {},
    });
    return { entries, log: this.log, metrics: this.metrics };
  }

  /** CloudFormation sends a request. */
  handle(request: object): Promise<unknown> {
    return this.#handler(request, { deadline: this.workUntil });
  }

  /** Lambda stops the function; the next request starts another one. */
  startAnew(): void {
    this.#handler = this.#newHandler();
  }

  #newHandler() {
    return onClusterAccessChanged(
      () => this.config,
      () => this.ports,
    );
  }

  /** One of our functions marks a node that is there. */
  async mark(name: string, annotation: string): Promise<void> {
    const node = parseNodeLife(this.cluster.nodes().find(({ metadata }) => metadata.name === name));
    const context = { deadline: new Date(Date.now() + 60_000), log: this.log };
    await changeNode(this.cluster, node, { plan: (one) => planMark(one, { holdId, annotation }), context });
  }

  /** Labels and annotations of every node that has more of them than its name. */
  get nodes(): Readonly<Record<string, Readonly<Record<string, string>>>> {
    const found = this.cluster.nodes().map(({ metadata: { name, labels, annotations } }) => {
      const { "kubernetes.io/hostname": _, ...rest } = textsOf(labels);
      return [name, { ...rest, ...textsOf(annotations) }] as const;
    });
    return Object.fromEntries(found.filter(([, texts]) => Object.keys(texts).length > 0));
  }

  #kubernetes(): KubernetesCaller {
    return {
      call: async (call) => {
        await this.#count(`${call.method} ${call.path}`);
        return FakeAccessObjects.answers(call) ? this.access.answer(call) : this.cluster.call(call);
      },
    };
  }

  async #count(call: string): Promise<void> {
    await this.onCall(call);
    this.calls.push(call);
  }
}
