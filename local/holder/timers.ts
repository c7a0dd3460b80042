import type { Schedules } from "../../lambda/core/ports.ts";
import type { Scope } from "../../lambda/core/scope.ts";
import type { AlarmClock, Cancel } from "./alarm-clock.ts";
import { type Expired, type OneShot, OneShots } from "./one-shots.ts";

/** The one-shots of one process; they are lost with it, and the sweep at its next start arms them again. */
export class Timers implements Schedules {
  readonly #clock: AlarmClock;
  readonly #fire: (expired: Expired) => Promise<void>;
  readonly #oneShots: OneShots;
  readonly #cancels = new Set<Cancel>();
  #isClosed = false;

  constructor(
    clock: AlarmClock,
    fire: (expired: Expired) => Promise<void>,
    onArmed: (expired: Expired, at: Date) => void = () => {},
  ) {
    this.#clock = clock;
    this.#fire = fire;
    this.#oneShots = new OneShots((oneShot) => {
      this.#wake(oneShot);
      onArmed({ scope: oneShot.scope, holdId: oneShot.holdId }, oneShot.at);
    });
  }

  async arm(scope: Scope, holdId: string, at: Date): Promise<"armed" | "already armed"> {
    // The process ends: the sweep at its next start arms the recorded holds.
    return this.#isClosed ? "armed" : this.#oneShots.arm(scope, holdId, at);
  }

  /** From now on none fires. */
  close(): void {
    this.#isClosed = true;
    this.loseAll();
  }

  /** Forgets every one-shot; returns how many there were. */
  loseAll(): number {
    const { armed } = this.#oneShots;
    const count = armed.size;
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
    armed.clear();
    return count;
  }

  #wake({ name, scope, holdId, at }: OneShot): void {
    const cancel = this.#clock.at(at, async () => {
      this.#cancels.delete(cancel);
      this.#oneShots.armed.delete(name);
      await this.#fire({ scope, holdId });
    });
    this.#cancels.add(cancel);
  }
}
