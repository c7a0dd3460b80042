import { after, type Duration, earlier, later, minutes } from "../lambda/core/duration.ts";
import type { LaunchEvent } from "../lambda/core/ports.ts";
import type { Hold, PastHold } from "../lambda/core/record.ts";
import { type Scope, wholeCluster } from "../lambda/core/scope.ts";
import type { LaunchOptions, NodeOptions } from "./fake-ec2.ts";
import type { FunctionName, Invocation } from "./invocation.ts";
import { World } from "./world.ts";

const largestBatch = 100;

/** A world in which all work runs on time, one function after the other. */
export class Scenario extends World {
  /** How often the sweep runs; undefined: never. */
  sweepEvery: Duration | undefined = minutes(5);
  /** The next invocation of this function crashes after so many calls. */
  crash: Readonly<{ name: FunctionName; calls: number }> | undefined;
  #lastSweep = this.time;

  launch(options?: LaunchOptions): LaunchEvent & Readonly<{ node: string }> {
    return this.ec2.launch(options);
  }

  /** Sends what an event or a window asks for, as their rules do. */
  sendHold(hold: Readonly<{ cause: "event" | "window"; name: string; for: string; scope?: Scope }>): void {
    const at = this.time.toISOString();
    this.queue.send({ hold: { scope: wholeCluster, reason: hold.name, at, ...hold } });
  }

  /** Adds an old node. */
  addNode(name: string, options?: NodeOptions): void {
    this.nodes.add(name, options);
  }

  /** Moves the clock and runs everything that is due meanwhile. */
  async pass(duration: Duration): Promise<void> {
    const end = after(this.time, duration);
    for (let next = this.nextMoment(end); next; next = this.nextMoment(end)) {
      if (next > this.time) this.time = next;
      await this.happen();
    }
    // Calls that were never answered may have taken longer.
    this.time = later(this.time, end);
  }

  /** Runs an invocation to its end, or until it crashes. */
  async run(begun: Promise<Invocation>): Promise<Invocation> {
    const invocation = await begun;
    const { crash } = this;
    if (crash?.name !== invocation.name) return this.finish(invocation);
    this.crash = undefined;
    while (invocation.state === "running" && invocation.calls < crash.calls) await this.step(invocation);
    invocation.crash();
    return invocation;
  }

  /** Invokes the control function; returns its answer or throws its error. */
  async control(request: unknown): Promise<Record<string, unknown>> {
    return answerOf(await this.run(this.ask(request)));
  }

  async releaseByHand(payload: unknown): Promise<Record<string, unknown>> {
    return answerOf(await this.run(this.release(payload)));
  }

  /** Fires the one-shot that is set. */
  fireNext(): Promise<Invocation> {
    const [oneShot] = this.oneShots.armed.values();
    if (!oneShot) throw new Error("no one-shot is set");
    return this.fire(oneShot);
  }

  hold(scope: Scope = wholeCluster): Hold | undefined {
    return this.holds.records.get(scope)?.hold;
  }

  history(): readonly PastHold[] {
    return [...this.journal.past.values()];
  }

  marks(): Record<string, string> {
    return this.nodes.marks();
  }

  heldNodes(): readonly string[] {
    return this.nodes.held();
  }

  /** Everything that is due at this moment. */
  async happen(): Promise<void> {
    await this.clock.runUntil(this.time);
    const messages = this.queue.due();
    for (let from = 0; from < messages.length; from += largestBatch)
      await this.run(this.deliver(messages.slice(from, from + largestBatch)));
    for (const oneShot of this.dueOneShots()) await this.run(this.fire(oneShot));
    const retries = this.retries.filter(({ at }) => at <= this.time);
    this.retries = this.retries.filter(({ at }) => at > this.time);
    for (const { payload, attempt, id } of retries) await this.run(this.release(payload, 0, attempt, id));
    if (this.sweepEvery !== undefined && after(this.#lastSweep, this.sweepEvery) <= this.time) {
      this.#lastSweep = this.time;
      await this.run(this.sweep());
    }
  }

  /** When something is due next, up to then. */
  nextMoment(end: Date): Date | undefined {
    const sweepAt = this.sweepEvery === undefined ? [] : [after(this.#lastSweep, this.sweepEvery)];
    const moments = [
      ...this.queue.messages.map(({ visibleAt }) => visibleAt),
      ...[...this.oneShots.armed.values()].map(({ at }) => at),
      ...this.retries.map(({ at }) => at),
      ...(this.clock.next ? [this.clock.next] : []),
      ...sweepAt,
    ].filter((moment) => moment <= end);
    return moments.length === 0 ? undefined : moments.reduce(earlier);
  }
}

function answerOf(invocation: Invocation): Record<string, unknown> {
  if (invocation.state === "failed") throw invocation.answer;
  return { ...Object(invocation.answer) };
}
