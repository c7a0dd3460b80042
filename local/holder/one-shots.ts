import type { Schedules } from "../../lambda/core/ports.ts";
import type { Scope } from "../../lambda/core/scope.ts";

/** The payload of a one-shot. */
export type Expired = Readonly<{ scope: Scope; holdId: string }>;

export type OneShot = Expired & Readonly<{ name: string; at: Date }>;

/** One-shots in memory; the same hold and time is the same one-shot. */
export class OneShots implements Schedules {
  readonly armed = new Map<string, OneShot>();
  readonly #onArmed: (oneShot: OneShot) => void;

  constructor(onArmed: (oneShot: OneShot) => void = () => {}) {
    this.#onArmed = onArmed;
  }

  async arm(scope: Scope, holdId: string, at: Date): Promise<"armed" | "already armed"> {
    const name = `${holdId}-${at.getTime()}`;
    if (this.armed.has(name) || this.isTaken(name)) return "already armed";
    const oneShot = { name, scope, holdId, at };
    this.armed.set(name, oneShot);
    this.#onArmed(oneShot);
    return "armed";
  }

  /** Whether a name cannot be used although nothing is armed under it. */
  protected isTaken(_name: string): boolean {
    return false;
  }
}
