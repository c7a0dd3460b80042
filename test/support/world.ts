import { after, type Duration, minutes } from "../../lambda/core/duration.ts";
import type { CallContext, Ports } from "../../lambda/core/ports.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { onOperatorAsked } from "../../lambda/handlers/control.ts";
import { onNodeLaunched } from "../../lambda/handlers/hold.ts";
import { onHoldExpired } from "../../lambda/handlers/release.ts";
import { onOverdueSwept } from "../../lambda/handlers/sweep.ts";
import { someRules } from "./builders.ts";
import { CollectedLog, CollectedMetrics } from "./collected-log.ts";
import { CountedIds, noon } from "./fixed-clock.ts";
import { type FunctionName, Invocation } from "./invocation.ts";
import { LaunchQueue, type QueueMessage } from "./launch-queue.ts";
import { MemoryHolds } from "./memory-holds.ts";
import { MemoryLaunches } from "./memory-launches.ts";
import { MemoryNodeClaims } from "./memory-node-claims.ts";
import { type MemoryCall, MemoryNodes } from "./memory-nodes.ts";
import { type ArmedRelease, MemorySchedules } from "./memory-schedules.ts";

const timeouts: Record<FunctionName, Duration> = {
  hold: minutes(2),
  release: minutes(5),
  sweep: minutes(5),
  control: minutes(2),
};
/** After so long a failed release is tried again, as Lambda does for what it was sent without waiting. */
const retriesAfter = [minutes(1), minutes(2)];

type Retry = Readonly<{ at: Date; payload: unknown; attempt: number; id: string }>;

/** All that is outside the core, in memory and in virtual time; the handlers are the real ones. */
export class World {
  time = noon;
  readonly rules: { -readonly [Name in keyof Rules]: Rules[Name] };
  readonly log = new CollectedLog();
  readonly metrics = new CollectedMetrics();
  readonly nodes: MemoryNodes;
  readonly holds: MemoryHolds;
  readonly nodeClaims = new MemoryNodeClaims();
  readonly schedules = new MemorySchedules();
  readonly instances = new MemoryLaunches();
  readonly queue: LaunchQueue;
  readonly ports: Ports;
  readonly running = new Set<Invocation>();
  /** NewEvent after each step of an invocation, with the call it made; at its beginning there is none yet. */
  watch: (invocation: Invocation, call: string) => void = () => {};
  retries: Retry[] = [];
  #requests = 0;
  #current: Invocation | undefined;

  constructor(rules: Partial<Rules> = {}, annotation?: string) {
    this.rules = { ...someRules(rules) };
    const clock = { now: () => after(this.time, this.#current?.skew ?? 0) };
    const hooks = {
      before: (call: string) => this.#current?.before(call),
      after: (call: string) => this.#current?.after(call),
    };
    const told = (tell: (call: string) => void | Promise<void> | undefined) => (call: MemoryCall) =>
      tell(call.kind === "list" ? "list" : `patch ${call.node}`);
    this.nodes = new MemoryNodes({
      clock,
      nodePools: this.rules.nodePools,
      metrics: this.metrics,
      before: told(hooks.before),
      after: told(hooks.after),
      ...(annotation !== undefined && { annotation }),
    });
    this.holds = new MemoryHolds(clock, hooks);
    this.schedules.hooks = hooks;
    this.instances.hooks = hooks;
    this.nodeClaims.hooks = hooks;
    this.queue = new LaunchQueue(() => this.time);
    this.queue.hooks = hooks;
    const { nodes, holds, schedules, metrics, queue } = this;
    const { nodeClaims } = this;
    const outside = {
      holds,
      journal: holds,
      nodes,
      nodeClaims,
      launches: this.instances,
      schedules,
      followUps: queue,
    };
    this.ports = { rules: this.rules, ...outside, clock, ids: new CountedIds(), metrics };
  }

  /** As a deployment with another setting does. */
  setScope(scope: Rules["scope"]): void {
    this.rules.scope = scope;
  }

  get current(): Invocation | undefined {
    return this.#current;
  }

  /** Hands messages to the hold function, all that are due unless told which. */
  deliver(messages: readonly QueueMessage[] = this.queue.due(this.time), skew = 0): Promise<Invocation> {
    const event = this.queue.receive(messages, this.time);
    const settle = (invocation: Invocation) => {
      if (invocation.state !== "done")
        return this.queue.settle(
          messages,
          messages.map((one) => one.id),
        );
      const { batchItemFailures } = parseAnswer(invocation.answer);
      this.queue.settle(messages, batchItemFailures);
    };
    const work = (context: CallContext) => onNodeLaunched(this.ports)(event, context);
    return this.#start("hold", work, skew, settle, messages);
  }

  /** A one-shot fires; it is gone, unless it is to fire twice. */
  fire(release: ArmedRelease, skew = 0, isTwin = false): Promise<Invocation> {
    const name = `${release.holdId}-${release.at.getTime()}`;
    if (!isTwin) this.schedules.armed.delete(name);
    this.schedules.spent.add(name);
    return this.release({ scope: release.scope, holdId: release.holdId }, skew);
  }

  /** The release function is invoked without waiting: it is tried three times. */
  release(payload: unknown, skew = 0, attempt = 0, id = `request-${++this.#requests}`): Promise<Invocation> {
    return this.#start(
      "release",
      (context) => onHoldExpired(this.ports)(payload, { ...context, requestId: id }),
      skew,
      (ended) => {
        const wait = retriesAfter[attempt];
        if (ended.state === "done" || wait === undefined) return;
        this.retries.push({ at: after(this.time, wait), payload, attempt: attempt + 1, id });
      },
    );
  }

  sweep(skew = 0): Promise<Invocation> {
    return this.#start("sweep", (context) => onOverdueSwept(this.ports)({}, context), skew);
  }

  ask(request: unknown, skew = 0): Promise<Invocation> {
    const work = (context: CallContext) => {
      if (this.#current && Reflect.get(Object(request), "do") === "status") this.#current.isFree = true;
      return onOperatorAsked(this.ports)(request, context);
    };
    return this.#start("control", work, skew);
  }

  async step(invocation: Invocation, ...verdict: Parameters<Invocation["step"]>): Promise<void> {
    const call = invocation.waitsFor;
    this.#current = invocation;
    await invocation.step(...verdict);
    this.#current = undefined;
    this.watch(invocation, call);
  }

  async finish(invocation: Invocation): Promise<Invocation> {
    while (invocation.state === "resting") await this.step(invocation);
    return invocation;
  }

  async #start(
    name: FunctionName,
    work: (context: CallContext) => Promise<unknown>,
    skew: Duration,
    ended: (invocation: Invocation) => void = () => {},
    messages: readonly QueueMessage[] = [],
  ): Promise<Invocation> {
    const deadline = after(this.time, timeouts[name] + skew);
    const invocation = new Invocation(name, skew, [this.time, deadline], (it) => {
      this.running.delete(it);
      ended(it);
    });
    invocation.messages = messages;
    this.running.add(invocation);
    this.#current = invocation;
    await invocation.begin(() => work({ deadline, log: this.log }));
    this.#current = undefined;
    this.watch(invocation, "");
    return invocation;
  }
}

function parseAnswer(answer: unknown): { batchItemFailures: string[] } {
  const failures: unknown = typeof answer === "object" && answer && Reflect.get(answer, "batchItemFailures");
  if (!Array.isArray(failures)) throw new Error("the hold function did not tell which messages failed");
  return { batchItemFailures: failures.map((one: { itemIdentifier: string }) => one.itemIdentifier) };
}
