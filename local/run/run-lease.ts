import { setTimeout as wait } from "node:timers/promises";
import * as v from "valibot";
import { after, type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import type { Clock, Log } from "../../lambda/core/ports.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { isStatus } from "../../lambda/kubernetes/error.ts";
import { leaseNamespace } from "./manifest-yaml.ts";

export const leases = `/apis/coordination.k8s.io/v1/namespaces/${leaseNamespace}/leases`;
const path = `${leases}/${holderName}`;

const lasts: Duration = seconds(30);
const renewedEvery: Duration = seconds(10);
/** No run has a longer one, but somebody may have edited it: nobody waits for years. */
const longest: Duration = minutes(10);

export type RunLeaseOptions = Readonly<{
  api: KubernetesCaller;
  clock: Clock;
  log: Log;
  /** The same for each start on one record. */
  identity: string;
  /** How often it is renewed, and tried again. */
  every?: Duration;
  /** How much time has passed since some moment, however often the clock is set. */
  elapsed?: () => Duration;
}>;

const shape = v.object({
  metadata: v.looseObject({ resourceVersion: v.optional(v.string(), "") }),
  spec: v.nullish(
    v.looseObject({
      holderIdentity: v.nullish(v.string(), ""),
      leaseDurationSeconds: v.nullish(v.number(), 0),
    }),
    {},
  ),
});

type Taken = "ours" | "another's" | "unavailable";

const noRight = "there is no right to a Lease: another run on this cluster would not be noticed";

/** A Lease that one `run` of a cluster has at a time, so that two do not remove each other's marks. */
export class RunLease {
  readonly #options: RunLeaseOptions;
  readonly #ended = new AbortController();
  /** Since when the present renewal is there, by time that passes here: clocks differ, and are set. */
  #seen = { version: "", at: 0 };
  #state: "none" | "ours" | "lost" = "none";
  #renewed = { at: new Date(0), elapsed: 0 };
  #renewing: Promise<void> | undefined;
  #confirming: Promise<Taken | undefined> | undefined;

  constructor(options: RunLeaseOptions) {
    this.#options = options;
  }

  /**
   * Waits until no other run has it, and says whether one was at work meanwhile; undefined where the signal came first.
   * Without the right to it, nobody waits.
   */
  async take(signal: AbortSignal, onLost: () => void): Promise<"taken" | "taken over" | undefined> {
    const { log, every = renewedEvery } = this.#options;
    let first: string | undefined;
    while (!signal.aborted) {
      const taken = await (first === undefined ? this.#try() : this.#tryAgain());
      if (taken === "unavailable") {
        log.warn(noRight);
        return "taken";
      }
      if (taken === "ours") {
        this.#state = "ours";
        this.#renewing = this.#renew(onLost);
        // One that only left it behind has changed nothing since.
        return first === undefined || first === this.#seen.version ? "taken" : "taken over";
      }
      if (first === undefined) log.info("another run works on this cluster: this one waits until it ends");
      first ??= this.#seen.version;
      await wait(every / 2, undefined, { signal }).catch(() => {});
    }
    return undefined;
  }

  /** Whether another run has taken over. */
  get isLost(): boolean {
    return this.#state === "lost";
  }

  /** Refuses where another run may have it by now: a process that was stopped for a while, or slept, does not know. */
  async confirm(): Promise<void> {
    const { at, elapsed } = this.#renewed;
    // While a machine sleeps, its clock alone goes on.
    const ages = [this.#options.clock.now().getTime() - at.getTime(), this.#elapsed() - elapsed];
    const isCurrent = ages.every((age) => age < lasts);
    if (this.#state === "none" || (this.#state === "ours" && isCurrent)) return;
    const taken = this.#state === "lost" ? "another's" : await this.#tryOnce();
    if (taken === "ours" || taken === "unavailable") return;
    const has = taken ? "has" : "may have";
    // Not of this node alone: the change of all nodes ends.
    throw new BrokenSetupError(`another run ${has} taken over this cluster: this one changes no node`);
  }

  /** Lets another run begin at once. */
  async release(): Promise<void> {
    this.#ended.abort();
    await this.#renewing;
    if (this.#state === "ours") await this.#try("").catch(() => {});
  }

  async #renew(onLost: () => void): Promise<void> {
    const { log, every = renewedEvery } = this.#options;
    const { signal } = this.#ended;
    let before: Taken = "ours";
    for (;;) {
      await wait(every, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      const taken = await this.#tryAgain();
      // Said once, where the right is taken away from a run that works.
      if (taken === "unavailable" && before === "ours") log.warn(noRight);
      before = taken ?? before;
      if (taken !== "another's") continue;
      this.#state = "lost";
      log.error("another run has taken over this cluster: this one ends");
      onLost();
      return;
    }
  }

  /** Many patches wait for the same answer. */
  #tryOnce(): Promise<Taken | undefined> {
    this.#confirming ??= this.#tryAgain().finally(() => {
      this.#confirming = undefined;
    });
    return this.#confirming;
  }

  async #tryAgain(): Promise<Taken | undefined> {
    try {
      return await this.#try();
    } catch (error) {
      this.#options.log.warn("the Lease could not be read or renewed: it is tried again", { error });
      // Its run may have had no answer either: it gets its time again.
      this.#seen.at = this.#elapsed();
      return undefined;
    }
  }

  /** Takes or renews it; with another identity, gives it away. */
  async #try(identity = this.#options.identity, tries = 3): Promise<Taken> {
    const { api, clock } = this.#options;
    const now = clock.now();
    const begun = { at: now, elapsed: this.#elapsed() };
    const deadline = after(now, minutes(1));
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: lasts / seconds(1),
      renewTime: now.toISOString().replace("Z", "000Z"),
    };
    const object = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
    const metadata = { name: holderName, namespace: leaseNamespace };
    try {
      const found = await api.call({ method: "GET", path }, { deadline }).catch((error: unknown) => {
        if (!isStatus(error, 404)) throw error;
      });
      if (found === undefined) {
        const body = { ...object, metadata, spec };
        await api.call({ method: "POST", path: leases, body }, { deadline });
        this.#renewed = begun;
        return "ours";
      }
      const lease = v.parse(shape, found);
      if (this.#isAnothers(lease)) return "another's";
      const body = { ...object, metadata: lease.metadata, spec: { ...lease.spec, ...spec } };
      await api.call({ method: "PUT", path, body }, { deadline });
      this.#renewed = begun;
      return "ours";
    } catch (error) {
      // An edit, or our own call whose answer was lost, may have changed it: whose it is, it says itself.
      if (isStatus(error, 409) && tries > 1) return this.#try(identity, tries - 1);
      // A server that starts refuses everyone: who waits for another run waits on. Who is at work must release its nodes.
      const mayPass = this.#state === "none" && this.#seen.version !== "";
      const isRefusal = isStatus(error, 404) || isStatus(Object(error).cause, 403);
      if (isStatus(error, 403) || (isRefusal && !mayPass)) return "unavailable";
      throw error;
    }
  }

  #isAnothers({ metadata: { resourceVersion: version }, spec }: v.InferOutput<typeof shape>): boolean {
    const now = this.#elapsed();
    if (version !== this.#seen.version) this.#seen = { version, at: now };
    const { holderIdentity, leaseDurationSeconds } = spec ?? {};
    if (!holderIdentity || holderIdentity === this.#options.identity) return false;
    return this.#seen.at + Math.min(seconds(leaseDurationSeconds ?? 0), longest) > now;
  }

  #elapsed(): Duration {
    const { elapsed = () => performance.now() } = this.#options;
    return elapsed();
  }
}

/** The same calls; what they patch, they patch only while no other run works on the cluster. */
export const patchingWith = (lease: Pick<RunLease, "confirm">, api: KubernetesCaller): KubernetesCaller => ({
  call: async (call, context) => {
    if (call.method === "PATCH") await lease.confirm();
    return api.call(call, context);
  },
});
