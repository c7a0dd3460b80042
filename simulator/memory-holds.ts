import { after, hours } from "../lambda/core/duration.ts";
import type { PastHold, ScopeRecord } from "../lambda/core/holds/hold.ts";
import { UnreadableRecordError } from "../lambda/core/holds/unreadable.ts";
import type { AllHolds, Clock, Holds, Journal, ProbeAnswer } from "../lambda/core/ports.ts";
import type { Scope } from "../lambda/core/scope.ts";

const historyKept = hours(24 * 90);
const probeKept = hours(24);

/** Record and journal in memory, with the promises of the table. What is written is never changed afterwards. */
export class MemoryHolds implements Holds, Journal {
  readonly records = new Map<Scope, ScopeRecord>();
  readonly past = new Map<string, PastHold>();
  readonly probes = new Map<string, ProbeAnswer>();
  sweptAt: Date | undefined;
  next: Scope | undefined;
  /** Scopes whose hold cannot be read, as another version or a hand may leave it; the next write repairs it. */
  readonly unreadable = new Set<Scope>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Another version writes a record whose hold we cannot read; like all versions it counts its writes. */
  spoil(scope: Scope): void {
    const record = this.records.get(scope);
    if (record) this.records.set(scope, { ...record, version: record.version + 1 });
    this.unreadable.add(scope);
  }

  async find(scope: Scope): Promise<ScopeRecord | undefined> {
    const record = this.records.get(scope);
    if (record && this.unreadable.has(scope)) throw unreadableError(record);
    return record;
  }

  async all(): Promise<AllHolds> {
    const all = [...this.records.values()];
    const isUnreadable = ({ scope }: ScopeRecord) => this.unreadable.has(scope);
    const unreadable = all.filter(isUnreadable).map(unreadableError);
    return { records: all.filter((record) => !isUnreadable(record)), unreadable, nameless: [] };
  }

  async replace(record: ScopeRecord): Promise<void> {
    this.unreadable.delete(record.scope);
    this.records.set(record.scope, { ...record, version: record.version + 1 });
  }

  async noteNextToSweep(next: Scope | undefined): Promise<void> {
    this.next = next;
  }

  async nextToSweep(): Promise<Scope | undefined> {
    return this.next;
  }

  async write(record: ScopeRecord): Promise<boolean> {
    const present = this.records.get(record.scope)?.version ?? 0;
    if (present !== record.version) return false;
    this.unreadable.delete(record.scope);
    this.records.set(record.scope, { ...record, version: record.version + 1 });
    return true;
  }

  async remember(hold: PastHold): Promise<void> {
    this.past.set(hold.id, hold);
  }

  async history(limit: number): Promise<readonly PastHold[]> {
    const now = this.#clock.now();
    return [...this.past.values()]
      .filter(({ endedAt }) => after(endedAt, historyKept) > now)
      .toSorted((a, b) => b.startedAt.getTime() - a.startedAt.getTime())
      .slice(0, limit);
  }

  async noteSweep(at: Date): Promise<void> {
    this.sweptAt = at;
  }

  async lastSweep(): Promise<Date | undefined> {
    return this.sweptAt;
  }

  async answerProbe(probe: ProbeAnswer): Promise<void> {
    this.probes.set(probe.id, probe);
  }

  async findProbe(id: string): Promise<ProbeAnswer | undefined> {
    const probe = this.probes.get(id);
    return probe && after(probe.answeredAt, probeKept) > this.#clock.now() ? probe : undefined;
  }
}

function unreadableError({ hold, ...rest }: ScopeRecord): UnreadableRecordError {
  return new UnreadableRecordError(`${rest.scope} has a hold that cannot be read`, {
    rest,
    ...(hold && { hold }),
  });
}
