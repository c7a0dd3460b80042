import { expect } from "vitest";
import { holderName } from "../../lambda/core/marks/keys.ts";
import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { leases } from "../../local/run/run-lease.ts";

/** One Lease, as the API server keeps it. */
export class FakeLeases {
  stored: { metadata: { resourceVersion: string }; spec: Record<string, unknown> } | undefined;
  refusal: number | Error | undefined;
  /** Another's edit between a run's read and its next PUT. */
  editBeforePut: ((spec: Record<string, unknown>, sent: object) => void) | undefined;

  async call({ method, path, body }: KubernetesCall): Promise<unknown> {
    const refuse = (status: number) => new KubernetesError(`${method} ${path}`, status, {});
    if (this.refusal) throw typeof this.refusal === "number" ? refuse(this.refusal) : this.refusal;
    if (method === "GET") {
      if (!this.stored) throw refuse(404);
      return structuredClone(this.stored);
    }
    const { metadata, spec } = Object(body);
    const isNew = method === "POST";
    if (!isNew && this.stored && this.editBeforePut) {
      this.editBeforePut(this.stored.spec, structuredClone(spec));
      this.stored.metadata.resourceVersion = "50";
      this.editBeforePut = undefined;
    }
    expect(path).toBe(isNew ? leases : `${leases}/${holderName}`);
    const { resourceVersion: version = "0" } = this.stored?.metadata ?? {};
    if (isNew ? this.stored : metadata.resourceVersion !== version) throw refuse(409);
    this.stored = { metadata: { resourceVersion: String(Number(version) + 1) }, spec };
    return this.stored;
  }
}
