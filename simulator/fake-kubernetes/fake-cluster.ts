import { STATUS_CODES } from "node:http";
import type { KubernetesCall, KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { explained, KubernetesError } from "../../lambda/kubernetes/error.ts";
import { NodeApi } from "./api.ts";
import { applyMergePatch } from "./json-patch.ts";
import type { NodeChange } from "./node-store.ts";
import { type Json, type JsonObject, type NodeObject, Refusal } from "./objects.ts";

export type FakeNode = Readonly<{
  name: string;
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  providerId?: string;
  joinedAt?: Date;
}>;

/** A Kubernetes API for nodes and lists of pods in memory: no kubelets. Our adapter calls it in process, or over HTTP. */
export class FakeCluster extends NodeApi implements KubernetesCaller {
  /** Answers a request in process, with the error that the client throws when the server refuses it. */
  async call(call: KubernetesCall): Promise<unknown> {
    const { method, path, query = {}, accept = "", contentType = "", body } = call;
    try {
      const answer = this.answer({
        method,
        path: decodeURI(path),
        query: new URLSearchParams(query),
        accept,
        contentType,
        body: () => body as Json,
      });
      return call.ignoresAnswer ? null : answer.body;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const message = error.message || (STATUS_CODES[error.status] ?? "");
      throw explained(new KubernetesError(`${method} ${path}`, error.status, { message }));
    }
  }

  /** Answers every request for this path, which is not of nodes; the answer may depend on the query. */
  serve(path: string, answer: Json | ((query: URLSearchParams) => Json)): void {
    this.others.set(path, answer);
  }

  /** Adds a ready node. */
  addNode(node: FakeNode): NodeObject {
    const { name, labels = {}, annotations = {}, providerId, joinedAt } = node;
    const born = joinedAt ? { creationTimestamp: joinedAt.toISOString() } : {};
    const wish = {
      metadata: { name, labels: { "kubernetes.io/hostname": name, ...labels }, annotations, ...born },
      spec: providerId === undefined ? {} : { providerID: providerId },
      status: { conditions: [{ type: "Ready", status: "True" }] },
    };
    return this.store.create(wish, "karpenter");
  }

  removeNode(name: string): void {
    this.store.remove(name);
  }

  /** Changes a node, as a user would unless another manager is named; null removes a key. */
  editNode(name: string, metadata: JsonObject, manager = "kubectl-edit"): NodeObject {
    return this.store.replace(name, applyMergePatch(this.store.get(name), { metadata }), manager);
  }

  nodes(): readonly NodeObject[] {
    return this.store.all();
  }

  /** Every value of this annotation since the node joined, without repetitions. */
  annotationHistory(name: string, key: string): readonly (string | undefined)[] {
    const values = this.store.annotationsOf(name).map((one) => one[key]?.toString());
    return values.filter((value, i) => i === 0 || value !== values[i - 1]);
  }

  /** Calls `listener` at every change; returns a function that stops this. */
  onChange(listener: (change: NodeChange) => void): () => void {
    return this.store.listen(listener);
  }

  /** Expires all lists and watches that started earlier. */
  forgetThePast(): void {
    this.store.forget();
    this.lists.forget();
    this.pods.forget();
  }
}
