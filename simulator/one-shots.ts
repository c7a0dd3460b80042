import { firesAt, scheduleName } from "../lambda/aws/scheduler-releases.ts";
import type { Clock, Schedules } from "../lambda/core/ports.ts";
import type { Scope } from "../lambda/core/scope.ts";
import type { Expired } from "../local/holder/timers.ts";

export type OneShot = Expired & Readonly<{ name: string; at: Date }>;

/** One-shots as EventBridge Scheduler keeps them: the same hold and second is the same name, which stays taken when it has fired. */
export class OneShots implements Schedules {
  readonly armed = new Map<string, OneShot>();
  readonly fired = new Set<string>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the one-shot of this hold and time has fired. */
  hasFired(holdId: string, at: Date | undefined): boolean {
    return at !== undefined && this.fired.has(scheduleName(holdId, at));
  }

  async arm(scope: Scope, holdId: string, at: Date): Promise<"armed" | "already armed"> {
    const name = scheduleName(holdId, at);
    if (this.armed.has(name) || this.fired.has(name)) return "already armed";
    this.armed.set(name, { name, scope, holdId, at: firesAt(at, this.#clock.now()) });
    return "armed";
  }
}
