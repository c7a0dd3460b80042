import { expect, onTestFinished, vi } from "vitest";
import { holderName } from "../../lambda/core/marks/keys.ts";
import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { leases, RunLease } from "../../local/run/run-lease.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { noon } from "../../simulator/virtual-clock.ts";

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

const never = new AbortController().signal;

/** One Lease, and runs that ask for it. */
export function leaseWorld() {
  const api = new FakeLeases();
  const log = new CollectedLog();
  /** How much time has passed, and how far somebody has set the clock. */
  const time = { passed: 0, ahead: 0 };
  const clock = { now: () => new Date(noon.getTime() + time.passed + time.ahead) };
  return {
    ...{ api, log, time, clock },
    /** A run that asks for the Lease. */
    leaseOf(identity: string, every = 10) {
      const lease = new RunLease({ api, clock, log, identity, every, elapsed: () => time.passed });
      onTestFinished(() => lease.release());
      const lost = vi.fn();
      return { lease, lost, take: (signal = never) => lease.take(signal, lost) };
    },
    owner: () => api.stored?.spec.holderIdentity,
    /** A Lease that was written by this run, or by no one. */
    writtenBy(holderIdentity: string, resourceVersion = "7") {
      const spec = { holderIdentity, ...(holderIdentity && { leaseDurationSeconds: 30 }) };
      api.stored = { metadata: { resourceVersion }, spec };
    },
  };
}
