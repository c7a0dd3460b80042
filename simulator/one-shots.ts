import type { Schedules } from "../lambda/core/ports.ts";
import type { Scope } from "../lambda/core/scope.ts";
import type { Expired } from "../local/holder/timers.ts";

export type OneShot = Expired & Readonly<{ name: string; at: Date }>;

/** One-shots as EventBridge Scheduler keeps them: the same hold and second is the same name, which stays taken when it has fired. */
export class OneShots implements Schedules {
  readonly armed = new Map<string, OneShot>();
  readonly fired = new Set<string>();

  async arm(scope: Scope, holdId: string, at: Date): Promise<"armed" | "already armed"> {
    const second = Math.ceil(at.getTime() / 1_000);
    const name = `${holdId}-${second}`;
    if (this.armed.has(name) || this.fired.has(name)) return "already armed";
    this.armed.set(name, { name, scope, holdId, at: new Date(second * 1_000) });
    return "armed";
  }
}
