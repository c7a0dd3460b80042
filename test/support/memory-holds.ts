import { after, hours } from "../../lambda/core/duration.ts";
import type { PastHold, ScopeRecord } from "../../lambda/core/holds/hold.ts";
import type { Clock, Holds, Journal, ProbeAnswer } from "../../lambda/core/ports.ts";
import type { Scope } from "../../lambda/core/scope.ts";
import { type Hooks, hooked } from "./hooks.ts";

const kept = hours(24 * 90);
const probeKept = hours(24);

/** Holds and journal in memory, with the same promises as the table; calls are told to hooks as "write", "remember" … */
export class MemoryHolds implements Holds, Journal {
  readonly records = new Map<Scope, ScopeRecord>();
  readonly past = new Map<string, PastHold>();
  readonly probes = new Map<string, ProbeAnswer>();
  sweptAt: Date | undefined;
  /** May be changed at any time. */
  hooks: Hooks;
  readonly #clock: Clock;

  constructor(clock: Clock, hooks: Hooks = {}) {
    this.#clock = clock;
    this.hooks = hooks;
  }

  find(scope: Scope): Promise<ScopeRecord | undefined> {
    return hooked(this.hooks, "find", () => structuredClone(this.records.get(scope)));
  }

  all(): Promise<readonly ScopeRecord[]> {
    return hooked(this.hooks, "all", () => structuredClone([...this.records.values()]));
  }

  scopes(): Promise<readonly Scope[]> {
    return hooked(this.hooks, "scopes", () => [...this.records.keys()]);
  }

  write(record: ScopeRecord): Promise<boolean> {
    return hooked(this.hooks, "write", () => {
      const present = this.records.get(record.scope)?.version ?? 0;
      if (present !== record.version) return false;
      this.records.set(record.scope, structuredClone({ ...record, version: record.version + 1 }));
      return true;
    });
  }

  remember(hold: PastHold): Promise<void> {
    return hooked(this.hooks, "remember", () => void this.past.set(hold.id, structuredClone(hold)));
  }

  history(limit: number): Promise<readonly PastHold[]> {
    return hooked(this.hooks, "history", () => {
      const now = this.#clock.now();
      const told = [...this.past.values()].filter(({ endedAt }) => after(endedAt, kept) > now);
      const newestFirst = told.toSorted((a, b) => b.startedAt.getTime() - a.startedAt.getTime());
      return structuredClone(newestFirst.slice(0, limit));
    });
  }

  noteSweep(at: Date): Promise<void> {
    return hooked(this.hooks, "noteSweep", () => {
      this.sweptAt = at;
    });
  }

  lastSweep(): Promise<Date | undefined> {
    return hooked(this.hooks, "lastSweep", () => this.sweptAt);
  }

  answerProbe(probe: ProbeAnswer): Promise<void> {
    return hooked(this.hooks, "answerProbe", () => void this.probes.set(probe.id, structuredClone(probe)));
  }

  findProbe(id: string): Promise<ProbeAnswer | undefined> {
    return hooked(this.hooks, "findProbe", () => {
      const probe = this.probes.get(id);
      const told = probe && after(probe.answeredAt, probeKept) > this.#clock.now();
      return told ? structuredClone(probe) : undefined;
    });
  }
}
