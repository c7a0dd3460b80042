import { after, type Duration } from "../../lambda/core/duration.ts";
import type { Clock, FollowUp, FollowUps } from "../../lambda/core/ports.ts";
import { type Hooks, hooked } from "./hooks.ts";

export type Waiting = Readonly<{ followUp: FollowUp; dueAt: Date }>;

/** Follow-ups in memory: they come back when a test takes those that are due. */
export class MemoryFollowUps implements FollowUps {
  waiting: Waiting[] = [];
  /** May be changed at any time. */
  hooks: Hooks;
  readonly #clock: Clock;

  constructor(clock: Clock, hooks: Hooks = {}) {
    this.#clock = clock;
    this.hooks = hooks;
  }

  enqueue(followUp: FollowUp, delay: Duration): Promise<void> {
    return hooked(this.hooks, "enqueue", () => {
      const dueAt = after(this.#clock.now(), delay);
      this.waiting.push({ followUp: structuredClone(followUp), dueAt });
    });
  }

  /** Delivers what is due: gone from here, in the order of its time. */
  takeDue(now: Date): readonly FollowUp[] {
    const due = this.waiting.filter(({ dueAt }) => dueAt <= now);
    this.waiting = this.waiting.filter(({ dueAt }) => dueAt > now);
    return due.toSorted((a, b) => a.dueAt.getTime() - b.dueAt.getTime()).map(({ followUp }) => followUp);
  }
}
