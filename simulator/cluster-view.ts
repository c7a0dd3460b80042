import {
  holderName,
  holdLabel,
  Karpenter,
  type KarpenterGeneration,
  markValue,
} from "../lambda/core/marks/keys.ts";
import { instanceOf, parseNode } from "../lambda/kubernetes/node-objects.ts";
import type { FakeEc2, NodeOptions } from "./fake-ec2.ts";
import type { FakeCluster } from "./fake-kubernetes/fake-cluster.ts";
import type { NodeObject } from "./fake-kubernetes/objects.ts";

/** A node without the labels that every node has; `pool` only for Karpenter's nodes. */
export type NodeView = Readonly<{
  name: string;
  instance: string;
  pool?: string;
  joinedAt: Date;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
}>;

export type ViewOptions = Readonly<{
  cluster: FakeCluster;
  ec2: FakeEc2;
  karpenter: KarpenterGeneration;
  annotation: () => string;
}>;

/** The nodes as a user sees and changes them. */
export class ClusterView {
  readonly #options: ViewOptions;
  readonly #views = new WeakMap<NodeObject, NodeView>();

  constructor(options: ViewOptions) {
    this.#options = options;
  }

  all(): readonly NodeView[] {
    return this.#options.cluster.nodes().map((node) => this.#viewOf(node));
  }

  get(name: string): NodeView | undefined {
    return this.all().find((node) => node.name === name);
  }

  /** Every value that the hold annotation ever had on this node. */
  history(name: string): readonly (string | undefined)[] {
    return this.#options.cluster.annotationHistory(name, this.#options.annotation());
  }

  /** Adds an old node. */
  add(name: string, options?: NodeOptions): void {
    this.#options.ec2.addNode(name, options);
  }

  remove(name: string): void {
    this.#options.ec2.terminate(name);
  }

  /** Changes a node as a user would; undefined removes the key. */
  edit(name: string, kind: "labels" | "annotations", key: string, value: string | undefined): void {
    this.#options.cluster.editNode(name, { [kind]: { [key]: value ?? null } });
  }

  /** A user's tool applies annotations: it owns them from then on, also those that were there already. */
  apply(name: string, annotations: Readonly<Record<string, string>>): void {
    const { cluster } = this.#options;
    const manager = "argocd-controller";
    const { managedFields, creationTimestamp: time } = cluster.editNode(
      name,
      { annotations },
      manager,
    ).metadata;
    const fields = Object.fromEntries(Object.keys(annotations).map((key) => [`f:${key}`, {}]));
    const fieldsV1 = { "f:metadata": { "f:annotations": fields } };
    const entry = { manager, operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", time, fieldsV1 };
    const owners = Array.isArray(managedFields) ? managedFields : [];
    cluster.editNode(name, { managedFields: [...owners, entry] }, manager);
  }

  /** Marks a node with a hold, as a crash may leave it. */
  mark(name: string, holdId: string): void {
    const mark = {
      labels: { [holdLabel]: holdId },
      annotations: { [this.#options.annotation()]: markValue },
    };
    this.#options.cluster.editNode(name, mark, holderName);
  }

  /** The nodes with our label, and their hold ids. */
  marks(): Record<string, string> {
    return Object.fromEntries(
      this.all().flatMap(({ name, labels }) => (labels[holdLabel] ? [[name, labels[holdLabel]]] : [])),
    );
  }

  /** The nodes with a complete mark, of this hold or of any. */
  held(holdId?: string): readonly string[] {
    const annotation = this.#options.annotation();
    return this.all()
      .filter(({ labels, annotations }) => {
        const label = labels[holdLabel];
        return label && annotations[annotation] === markValue && (holdId === undefined || label === holdId);
      })
      .map(({ name }) => name);
  }

  #viewOf(node: NodeObject): NodeView {
    const known = this.#views.get(node);
    if (known) return known;
    const { poolLabel, registeredLabel } = Karpenter[this.#options.karpenter];
    const { name, createdAt: joinedAt, labels = {}, annotations = {} } = parseNode(node);
    const { [poolLabel]: pool, [registeredLabel]: _, "kubernetes.io/hostname": __, ...rest } = labels;
    const instance = instanceOf(node);
    const view = { name, instance, joinedAt, labels: rest, annotations, ...(pool !== undefined && { pool }) };
    this.#views.set(node, view);
    return view;
  }
}
