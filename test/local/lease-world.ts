import { onTestFinished, vi } from "vitest";
import { RunLease } from "../../local/run/run-lease.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { FakeLeases } from "./fake-leases.ts";

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
