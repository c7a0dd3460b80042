import type { Schedules } from "../../lambda/core/ports.ts";
import type { Scope } from "../../lambda/core/scope.ts";
import { type Hooks, hooked } from "./hooks.ts";

export type ArmedRelease = Readonly<{ scope: Scope; holdId: string; at: Date }>;

/** One-shots in memory: they fire when a test takes those that are due. */
export class MemorySchedules implements Schedules {
  readonly armed = new Map<string, ArmedRelease>();
  /** Names whose one-shot has fired and that are not free yet: to arm them again is taken for done. */
  readonly spent = new Set<string>();
  /** How many calls came, also those that changed nothing. */
  calls = 0;
  /** May be changed at any time. */
  hooks: Hooks;

  constructor(hooks: Hooks = {}) {
    this.hooks = hooks;
  }

  arm(scope: Scope, holdId: string, at: Date): Promise<"armed" | "already armed"> {
    return hooked(this.hooks, "arm", () => {
      this.calls += 1;
      const name = `${holdId}-${at.getTime()}`;
      if (this.armed.has(name) || this.spent.has(name)) return "already armed";
      this.armed.set(name, { scope, holdId, at });
      return "armed";
    });
  }

  /** Fires what is due: gone from here, in the order of its time. */
  takeDue(now: Date): readonly ArmedRelease[] {
    const due = [...this.armed].filter(([, { at }]) => at <= now);
    for (const [name] of due) this.armed.delete(name);
    return due.map(([, release]) => release).toSorted((a, b) => a.at.getTime() - b.at.getTime());
  }
}
