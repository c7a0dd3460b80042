import { after, type Duration, minutes } from "../../lambda/core/duration.ts";
import type { CallContext, HoldEvents, Looks, Ports } from "../../lambda/core/ports.ts";
import { onControlRequest } from "../../lambda/handlers/control.ts";
import { onNodeLaunched } from "../../lambda/handlers/hold.ts";
import { onRelease } from "../../lambda/handlers/release.ts";
import { onSweepDue } from "../../lambda/handlers/sweep.ts";
import type { Settings } from "../../lambda/settings.ts";
import type { AlarmClock, Cancel } from "./clock.ts";
import { changesOf } from "./hold-changes.ts";
import { InProcessQueue, type QueueOptions } from "./queue.ts";
import type { Timeline } from "./timeline.ts";
import type { Expired } from "./timers.ts";
import { Timers } from "./timers.ts";

/** What the holder of one process needs; it is its own schedules and follow-ups. */
export type HolderWorld = Omit<Ports, "rules" | "events" | "looks" | "schedules" | "followUps" | "clock"> &
  Readonly<{
    settings: Settings;
    clock: AlarmClock;
    log: CallContext["log"];
    /** Receives what happens to holds. */
    timeline: Timeline;
    /** Called after each sweep, with what failed. */
    onSweep?: (error: unknown) => void;
    queue?: Partial<Pick<QueueOptions, "window" | "visibility">>;
    /** How late the next one-shot fires; without it, none is late. */
    lateness?: () => Duration;
    /** The command that lets this holder hold, where it only observes. */
    toHold?: string | undefined;
  }>;

const timeout: Duration = minutes(1);
/** The half of it is for a list of tens of thousands of pods. A launch, an operator and the end of the process do not wait for it. */
const lookTimeout: Duration = minutes(2);

/** The deployed functions in one process: the same handlers, with queue, one-shots and sweep of its own. */
export class Holder {
  readonly queue: InProcessQueue;
  readonly timers: Timers;
  readonly #world: HolderWorld;
  readonly #ports: Ports;
  readonly #underWay = new Set<Promise<unknown>>();
  #nextSweep: Cancel = () => {};
  #isStopped = false;

  constructor(world: HolderWorld) {
    const { settings, log, timeline, onSweep: _, queue, lateness, toHold: __, ...ports } = world;
    const { clock } = world;
    this.#world = world;
    this.queue = new InProcessQueue({
      ...queue,
      clock,
      log,
      deliver: (event, context) => onNodeLaunched(this.#ports)(event, context),
    });
    this.timers = new Timers(clock, (expired) => this.#fire(expired), lateness);
    const events: HoldEvents = {
      note: ({ before, record }) => {
        for (const one of changesOf(before, record, settings)) timeline.record(one);
      },
      noteObserved: () => {},
    };
    const looks: Looks = {
      note: (where, verdicts, paid) => timeline.record({ kind: "look", where, verdicts, paid }),
    };
    const own = { schedules: this.timers, followUps: this.queue, looks, events };
    this.#ports = { ...ports, ...own, rules: settings };
  }

  /** Sweeps now, and from then on as often as the settings say. */
  async start(): Promise<void> {
    const { clock, settings, onSweep } = this.#world;
    if (this.#isStopped) return;
    const error = await this.#attempt("a sweep failed: the next one repairs it", () => this.sweep());
    onSweep?.(error);
    if (this.#isStopped) return;
    this.#nextSweep = clock.at(after(clock.now(), settings.sweepEvery), () => this.start());
  }

  sweep(): Promise<void> {
    this.#world.timeline.record({ kind: "sweep" });
    return this.#hold(onSweepDue(this.#ports)({}, this.#context(lookTimeout)));
  }

  /** Does what the release function does: for a one-shot that fired, or by hand. */
  release(payload: unknown, time?: Duration) {
    return this.#hold(onRelease(this.#ports)(payload, this.#context(time)));
  }

  /** Answers as the control function does, and a status with the command that lets it hold. */
  async ask(payload: unknown): Promise<unknown> {
    const answer = await this.#hold(onControlRequest(this.#ports)(payload, this.#context()));
    const { toHold } = this.#world;
    return toHold && Object(payload).do === "status" ? { ...Object(answer), toHold } : answer;
  }

  /** Starts nothing more and finishes the work under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#nextSweep();
    this.timers.close();
    await this.queue.close();
    await Promise.allSettled(this.#underWay);
  }

  async #fire(expired: Expired): Promise<void> {
    await this.#attempt("a release failed: the next sweep repairs it", () =>
      this.release(expired, lookTimeout),
    );
  }

  #context(time = timeout): CallContext {
    const { clock, log } = this.#world;
    return { deadline: after(clock.now(), time), log };
  }

  async #hold<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  async #attempt(sentence: string, work: () => Promise<unknown>): Promise<unknown> {
    try {
      await work();
      return undefined;
    } catch (error) {
      this.#world.log.error(sentence, { error });
      return error ?? sentence;
    }
  }
}
