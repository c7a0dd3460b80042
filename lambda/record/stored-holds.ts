import { type Duration, hours, later } from "../core/duration.ts";
import { BrokenSetupError } from "../core/errors.ts";
import type { AllHolds, Clock, Holds } from "../core/ports.ts";
import type { ScopeRecord } from "../core/record.ts";
import type { Scope } from "../core/scope.ts";
import { type Fields, forgetAfter, type ItemTable, Kind } from "./item-table.ts";
import { storedPauses } from "./stored-pauses.ts";
import { readRecord } from "./stored-records.ts";

/** Longer than an event may be late plus the longest hold. */
const unheldKept: Duration = hours(24 * 7);

/** One item a scope, each write conditional on the version that was read. */
export class StoredHolds implements Holds {
  readonly #table: ItemTable;
  readonly #clock: Clock;

  constructor(table: ItemTable, clock: Clock) {
    this.#table = table;
    this.#clock = clock;
  }

  async find(scope: Scope): Promise<ScopeRecord | undefined> {
    const item = await this.#table.find(Kind.record, scope);
    return item && readRecord(item);
  }

  async all(): Promise<AllHolds> {
    const records: ScopeRecord[] = [];
    const problems: BrokenSetupError[] = [];
    for await (const item of this.#table.all(Kind.record)) {
      try {
        records.push(readRecord(item));
      } catch (error) {
        if (!(error instanceof BrokenSetupError)) throw error;
        problems.push(error);
      }
    }
    return { records, problems };
  }

  write(record: ScopeRecord): Promise<boolean> {
    return this.#table.put(
      Kind.record,
      record.scope,
      storedRecord(record, this.#clock.now()),
      record.version,
    );
  }
}

export function storedRecord(record: ScopeRecord, now: Date): Fields {
  const { scope: _, unreadable: _u, version, account, ...rest } = record;
  // A version that is no valid number starts again at 1.
  const next = Number.isSafeInteger(version) ? version + 1 : 1;
  const stored = account && { account: { ...account, pauses: storedPauses(account.pauses) } };
  return { ...rest, ...stored, version: next, ...forgetWithoutHold(record, now) };
}

/** Lets a record without a hold expire: the record of a deleted NodePool would stay for ever. */
function forgetWithoutHold(record: ScopeRecord, now: Date): Fields {
  const { hold, requests, quiet } = record;
  if (hold) return {};
  const ends = [...requests.map(({ until }) => until), ...(quiet ? [quiet.until] : [])];
  return forgetAfter(ends.reduce(later, now), unheldKept);
}
