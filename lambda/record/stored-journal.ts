import { hours } from "../core/duration.ts";
import type { Report } from "../core/observed.ts";
import type { Clock, Journal, ProbeAnswer } from "../core/ports.ts";
import { historyDays, type PastHold } from "../core/record.ts";
import { forgetAfter, type ItemTable, Kind, type StoredItem } from "./item-table.ts";
import { readForgetAt, readPastHold, readProbe, readReport, readSweep } from "./stored-records.ts";

const historyKept = hours(24 * historyDays);
const probesKept = hours(24);
const lastSweep = "last";
const lastReport = "report";

/** History, the last sweep and report, and probes, in the same table as the holds. */
export class StoredJournal implements Journal {
  readonly #table: ItemTable;
  readonly #clock: Clock;

  constructor(table: ItemTable, clock: Clock) {
    this.#table = table;
    this.#clock = clock;
  }

  async remember(hold: PastHold): Promise<void> {
    // The name sorts by the start, and stays the same however often this hold is written.
    const name = `${hold.startedAt.toISOString()}#${hold.id}`;
    await this.#table.put(Kind.history, name, { ...hold, ...forgetAfter(hold.endedAt, historyKept) });
  }

  async history(limit: number): Promise<readonly PastHold[]> {
    const past: PastHold[] = [];
    if (limit <= 0) return past;
    for await (const item of this.#table.all(Kind.history, { backwards: true, pageSize: limit })) {
      if (!this.#isForgotten(item)) past.push(readPastHold(item));
      if (past.length === limit) break;
    }
    return past;
  }

  async noteSweep(at: Date): Promise<void> {
    await this.#table.put(Kind.sweep, lastSweep, { at });
  }

  async lastSweep(): Promise<Date | undefined> {
    const item = await this.#table.find(Kind.sweep, lastSweep);
    return item && readSweep(item).at;
  }

  async noteReport(report: Report): Promise<void> {
    await this.#table.put(Kind.sweep, lastReport, report);
  }

  async lastReport(): Promise<Report | undefined> {
    const item = await this.#table.find(Kind.sweep, lastReport);
    return item && readReport(item);
  }

  async answerProbe(probe: ProbeAnswer): Promise<void> {
    await this.#table.put(Kind.probe, probe.id, { ...probe, ...forgetAfter(probe.answeredAt, probesKept) });
  }

  async findProbe(id: string): Promise<ProbeAnswer | undefined> {
    const item = await this.#table.find(Kind.probe, id);
    return item && !this.#isForgotten(item) ? readProbe(item) : undefined;
  }

  // DynamoDB deletes expired items up to days later, a file only when it is opened.
  #isForgotten(item: StoredItem): boolean {
    return readForgetAt(item) * 1_000 <= this.#clock.now().getTime();
  }
}
