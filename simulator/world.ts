import { after, type Duration, minutes } from "../lambda/core/duration.ts";
import { TryAgainError } from "../lambda/core/errors.ts";
import type { CallContext, Ids, Ports } from "../lambda/core/ports.ts";
import { onControlRequest } from "../lambda/handlers/control.ts";
import { onNodeLaunched } from "../lambda/handlers/hold.ts";
import { onRelease } from "../lambda/handlers/release.ts";
import { onSweepDue } from "../lambda/handlers/sweep.ts";
import { type KubernetesCall, type KubernetesCaller, OutOfTimeError } from "../lambda/kubernetes/client.ts";
import { readSettings, type Settings } from "../lambda/settings.ts";
import { clusterPorts } from "../local/holder/cluster-ports.ts";
import { type Message, MessageQueue } from "../local/holder/queue.ts";
import { type Around, answerCall, interceptedPorts, nameOf } from "./calls.ts";
import { ClusterView } from "./cluster-view.ts";
import { CollectedLog, CollectedMetrics } from "./collected-log.ts";
import { FakeAccessObjects } from "./fake-access-objects.ts";
import { FakeEc2 } from "./fake-ec2.ts";
import { FakeCluster } from "./fake-kubernetes/fake-cluster.ts";
import { FakeNodeClaims } from "./fake-node-claims.ts";
import { countedIds } from "./hold-ids.ts";
import {
  type FunctionName,
  failuresIn,
  Invocation,
  retriesAfter,
  timeouts,
  type Verdict,
} from "./invocation.ts";
import { MemoryTable } from "./memory-table.ts";
import { type OneShot, OneShots } from "./one-shots.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { NotedChanges, WatchedHolds, WatchedJournal } from "./watched-record.ts";

/** With less time left the client starts no request. */
const shortestRequest: Duration = 300;

type Retry = Readonly<{ at: Date; payload: unknown; attempt: number; id: string }>;
type Work = (ports: Ports, context: CallContext) => Promise<unknown>;
type Start = Readonly<{
  input?: unknown;
  attempt?: number;
  skew?: Duration;
  messages?: readonly Message[];
  onEnd?: (invocation: Invocation) => void;
}>;

/** Everything outside the core, in memory and virtual time; handlers and node adapter are the real ones. */
export class World {
  settings: Settings;
  readonly clock = new VirtualClock();
  readonly log = new CollectedLog();
  readonly metrics = new CollectedMetrics();
  readonly cluster = new FakeCluster(() => this.clock.now());
  readonly nodes: ClusterView;
  readonly ec2: FakeEc2;
  readonly table = new MemoryTable();
  readonly holds = new WatchedHolds(this.table, this.clock);
  readonly journal = new WatchedJournal(this.table, this.clock);
  readonly nodeClaims = new FakeNodeClaims();
  readonly access = new FakeAccessObjects();
  readonly oneShots = new OneShots(this.clock);
  readonly queue = new MessageQueue({ clock: this.clock, visibility: minutes(12) });
  readonly running = new Set<Invocation>();
  /** Every call made, in order, for a test that counts them. */
  readonly calls: string[] = [];
  readonly events = new NotedChanges();
  /** Which calls fail until this is changed. */
  refuses: (call: string) => boolean = () => false;
  /** Which calls to the cluster are never answered: they take all the time that they are given. */
  hangs: (call: string) => boolean = () => false;
  /** Called after each step of an invocation with the call it made; at its beginning there is none yet. */
  watch: (invocation: Invocation, call: string) => void = () => {};
  retries: Retry[] = [];
  readonly #outside: Omit<Ports, "rules" | "nodes" | "nodeClaims" | "pods" | "nodeEvents">;
  readonly #api: KubernetesCaller = {
    call: (call, { deadline }) => this.#callCluster(call, deadline),
  };
  #requests = 0;
  #current: Invocation | undefined;

  constructor(settings: Partial<Settings> = {}, ids: Ids = countedIds()) {
    this.settings = { ...readSettings({ cluster: "prod", hold: "20m" }), ...settings };
    const { metrics, cluster } = this;
    const { karpenter } = this.settings;
    const clock = { now: () => this.#now() };
    const send = (event: unknown, delay: Duration) => void this.queue.send(event, delay);
    this.ec2 = new FakeEc2({ clock: this.clock, cluster, karpenter, nodeClaims: this.nodeClaims, send });
    const annotation = () => this.settings.holdAnnotation;
    this.nodes = new ClusterView({ cluster, ec2: this.ec2, karpenter, annotation });
    const around: Around = (call, effect) => this.#around(call, effect);
    this.#outside = { ...interceptedPorts(this, around), events: this.events, clock, ids, metrics };
  }

  get time(): Date {
    return this.clock.now();
  }

  set time(now: Date) {
    this.clock.set(now);
  }

  /** The ports of a function of the current deployment. */
  get ports(): Ports {
    const { settings: rules } = this;
    return { ...this.#outside, rules, ...clusterPorts(rules, { ...this.#outside, api: this.#api }) };
  }

  /** Deploys other settings; functions that run already keep theirs. */
  deploy(change: Partial<Settings>): void {
    this.settings = { ...this.settings, ...change };
  }

  /** Passes messages to the hold function as one batch, all that are due unless some are named. */
  deliver(messages = this.queue.due(), skew = 0): Promise<Invocation> {
    const event = this.queue.receive(messages);
    const onEnd = ({ state, answer }: Invocation) => {
      const all = messages.map(({ id }) => id);
      this.queue.settle(messages, state === "done" ? failuresIn(answer) : all);
    };
    return this.#start("hold", (ports, context) => onNodeLaunched(ports)(event, context), {
      skew,
      messages,
      onEnd,
    });
  }

  /** Fires a one-shot and deletes it, unless it is to fire again. */
  fire({ name, scope, holdId }: OneShot, { skew = 0, isDuplicated = false } = {}): Promise<Invocation> {
    if (!isDuplicated) this.oneShots.armed.delete(name);
    this.oneShots.fired.add(name);
    return this.release({ scope, holdId }, skew);
  }

  /** The release function is invoked asynchronously: Lambda tries it three times. */
  release(payload: unknown, skew = 0, attempt = 0, id = `request-${++this.#requests}`): Promise<Invocation> {
    const onEnd = ({ state }: Invocation) => {
      const wait = retriesAfter[attempt];
      if (state === "done" || wait === undefined) return;
      this.retries.push({ at: after(this.time, wait), payload, attempt: attempt + 1, id });
    };
    const work: Work = (ports, context) => onRelease(ports)(payload, { ...context, requestId: id });
    return this.#start("release", work, { input: payload, attempt, skew, onEnd });
  }

  sweep(skew = 0): Promise<Invocation> {
    return this.#start("sweep", (ports, context) => onSweepDue(ports)({}, context), { skew });
  }

  ask(request: unknown, skew = 0): Promise<Invocation> {
    return this.#start("control", (ports, context) => onControlRequest(ports)(request, context), {
      input: request,
      skew,
    });
  }

  dueOneShots(): readonly OneShot[] {
    return [...this.oneShots.armed.values()].filter(({ at }) => at <= this.time);
  }

  async step(invocation: Invocation, verdict?: Verdict, which = 0): Promise<void> {
    if (invocation.state !== "running") return;
    const call = invocation.waiting[which % invocation.waiting.length] ?? "";
    this.#current = invocation;
    await invocation.step(verdict, which);
    this.#current = undefined;
    this.watch(invocation, call);
  }

  async finish(invocation: Invocation): Promise<Invocation> {
    while (invocation.state === "running") await this.step(invocation);
    return invocation;
  }

  async #start(
    name: FunctionName,
    work: Work,
    { input, attempt = 0, skew = 0, messages = [], onEnd }: Start,
  ): Promise<Invocation> {
    const invocation = new Invocation({
      name,
      skew,
      begunAt: this.time,
      deadline: after(this.time, timeouts[name] + skew),
      settings: this.settings,
      input,
      attempt,
      messages,
      onEnd: (ended) => {
        this.running.delete(ended);
        onEnd?.(ended);
      },
    });
    this.running.add(invocation);
    const { ports } = this;
    this.#current = invocation;
    await invocation.begin((deadline) => work(ports, { deadline, log: this.log }));
    this.#current = undefined;
    this.watch(invocation, "");
    return invocation;
  }

  #callCluster(call: KubernetesCall, deadline: Date): Promise<unknown> {
    const name = nameOf(call);
    if (deadline.getTime() - this.#now().getTime() < shortestRequest) {
      this.#current?.late.push(name);
      return Promise.reject(new OutOfTimeError(`no time is left for ${name}`));
    }
    return this.#around(name, () => answerCall(this, call), deadline);
  }

  async #around<T>(call: string, effect: () => Promise<T>, deadline?: Date): Promise<T> {
    const invocation = this.#current;
    const verdict = (await invocation?.waitBefore(call)) ?? "done";
    this.calls.push(call);
    if (deadline && this.hangs(call)) await this.clock.runUntil(after(deadline, -(invocation?.skew ?? 0)));
    const isLate = deadline !== undefined && this.#now() >= deadline;
    if (isLate) invocation?.late.push(call);
    if (isLate && verdict !== "answer lost") throw new OutOfTimeError(`${call} was not answered in time`);
    if (verdict === "refused" || this.refuses(call)) {
      if (verdict !== "refused") invocation?.refused.push(call);
      throw new TryAgainError(`${call} was refused`);
    }
    const result = await effect();
    if (verdict === "answer late") await invocation?.waitBefore(`the answer of ${call}`);
    if (verdict !== "answer lost") return result;
    throw isLate
      ? new OutOfTimeError(`${call} was not answered in time`)
      : new TryAgainError(`${call} was not answered`);
  }

  #now(): Date {
    return after(this.time, this.#current?.skew ?? 0);
  }
}
