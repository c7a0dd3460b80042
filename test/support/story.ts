import { after, type Duration, earlier, minutes, seconds } from "../../lambda/core/duration.ts";
import type { Hold, PastHold } from "../../lambda/core/holds/hold.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import type { LaunchEvent } from "../../lambda/core/ports.ts";
import { type Scope, wholeCluster } from "../../lambda/core/scope.ts";
import type { FunctionName, Invocation } from "./invocation.ts";
import type { MemoryNodeAbout } from "./memory-nodes.ts";
import { World } from "./world.ts";

export type LaunchAbout = Readonly<{
  /** null: not one of this cluster's Karpenter. */
  pool?: string | null;
  /** How long until the node joins; null: never. */
  joinsAfter?: Duration | null;
  /** How late the event comes; null: it is lost. */
  eventAfter?: Duration | null;
  node?: MemoryNodeAbout;
}>;

type Joining = Readonly<{ at: Date; name: string; about: MemoryNodeAbout }>;

/** What to do to an invocation of this function: it crashes after so many calls. */
type Accident = Readonly<{ name: FunctionName; calls: number }>;

/** A world in which things happen in their time, one function after the other. */
export class Story extends World {
  /** How often the sweep runs; without it, never. */
  sweepEvery: Duration | undefined = minutes(5);
  /** Happens once, to the next invocation of that function. */
  accident: Accident | undefined;
  joining: Joining[] = [];
  /** NewEvent when nodes have joined. */
  joined: () => void = () => {};
  #launched = 0;
  #lastSweep = this.time;

  /** Launches an instance, whose event and node come in their time. */
  launch(about: LaunchAbout = {}): LaunchEvent & Readonly<{ node: string }> {
    const { pool = "default", joinsAfter = seconds(40), eventAfter = 0, node = {} } = about;
    this.#launched += 1;
    const instance = `i-${this.#launched.toString(16).padStart(8, "0")}`;
    const launch = { instance, launchedAt: this.time };
    this.instances.add(instance, this.time, pool ?? undefined);
    if (eventAfter !== null) this.queue.sendLaunch(launch, eventAfter);
    const name = `node-${this.#launched}`;
    if (joinsAfter !== null)
      this.joining.push({ at: after(this.time, joinsAfter), name, about: { pool, instance, ...node } });
    return { ...launch, node: name };
  }

  /** Adds a node that has been there for long. */
  addNode(name: string, about: MemoryNodeAbout = {}): void {
    const instance = `i-${name}`;
    this.instances.add(instance, new Date(0), about.pool ?? "default");
    this.nodes.add(name, { joinedAt: new Date(0), instance, ...about });
  }

  /** Lets time pass and everything happen that falls due meanwhile. */
  async pass(duration: Duration): Promise<void> {
    const end = after(this.time, duration);
    for (;;) {
      const next = this.nextMoment(end);
      if (!next) break;
      if (next > this.time) this.time = next;
      await this.happen();
    }
    this.time = end;
  }

  /** Lets an invocation run to its end, or into the accident that waits for it. */
  async run(begun: Promise<Invocation>): Promise<Invocation> {
    const invocation = await begun;
    const { accident } = this;
    if (accident?.name !== invocation.name) return this.finish(invocation);
    this.accident = undefined;
    while (invocation.state === "resting" && invocation.calls < accident.calls) await this.step(invocation);
    invocation.crash();
    return invocation;
  }

  /** Asks the control function, and gives its answer or throws its refusal. */
  async control(request: unknown): Promise<Record<string, unknown>> {
    return answerOf(await this.run(this.ask(request)));
  }

  async releaseByHand(payload: unknown): Promise<Record<string, unknown>> {
    return answerOf(await this.run(this.release(payload)));
  }

  hold(scope: Scope = wholeCluster): Hold | undefined {
    return this.holds.records.get(scope)?.hold;
  }

  history(): readonly PastHold[] {
    return [...this.holds.past.values()];
  }

  /** The names of the nodes that carry a mark of ours, with the hold they are in. */
  marks(): Record<string, string> {
    const marked = [...this.nodes.nodes.values()].filter((node) => node.labels[holdLabel]);
    return Object.fromEntries(marked.map((node) => [node.name, node.labels[holdLabel] ?? ""]));
  }

  heldNodes(): readonly string[] {
    return [...new Set(Object.values(this.marks()))].flatMap((id) => this.nodes.heldBy(id)).toSorted();
  }

  /** Everything that is due at this moment. */
  async happen(): Promise<void> {
    const now = this.time;
    for (const { name, about } of this.joining.filter(({ at }) => at <= now)) this.nodes.add(name, about);
    this.joining = this.joining.filter(({ at }) => at > now);
    this.joined();
    const messages = this.queue.due(now);
    for (let from = 0; from < messages.length; from += 100)
      await this.run(this.deliver(messages.slice(from, from + 100)));
    for (const release of [...this.schedules.armed.values()].filter(({ at }) => at <= now))
      await this.run(this.fire(release));
    const retries = this.retries.filter(({ at }) => at <= now);
    this.retries = this.retries.filter(({ at }) => at > now);
    for (const { payload, attempt, id } of retries) await this.run(this.release(payload, 0, attempt, id));
    if (this.sweepEvery !== undefined && after(this.#lastSweep, this.sweepEvery) <= now) {
      this.#lastSweep = now;
      await this.run(this.sweep());
    }
  }

  /** When something falls due next, up to then. */
  nextMoment(end: Date): Date | undefined {
    const sweepAt = this.sweepEvery === undefined ? [] : [after(this.#lastSweep, this.sweepEvery)];
    const moments = [
      ...this.queue.messages.map(({ visibleAt }) => visibleAt),
      ...[...this.schedules.armed.values()].map(({ at }) => at),
      ...this.retries.map(({ at }) => at),
      ...this.joining.map(({ at }) => at),
      ...sweepAt,
    ].filter((moment) => moment <= end);
    return moments.length === 0 ? undefined : moments.reduce(earlier);
  }
}

function answerOf(invocation: Invocation): Record<string, unknown> {
  if (invocation.state === "failed") throw invocation.answer;
  return { ...Object(invocation.answer) };
}
