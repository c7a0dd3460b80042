import type { Duration } from "../core/duration.ts";

/** What is stored: dates become ISO strings, what is undefined is left out. */
export type Storable = string | number | boolean | Date | Fields | readonly Storable[] | undefined;
export type Fields = { readonly [name: string]: Storable };

/** An item as JSON. */
export type Item = Readonly<Record<string, unknown>>;

/** An item, and where it was found. */
export type StoredItem = Readonly<{ item: Item; where: string }>;

/** Where items are kept: a DynamoDB table, or a file. Reads see every write that was acknowledged before. */
export interface ItemTable {
  find(kind: Kind, name: string): Promise<StoredItem | undefined>;
  /** Every item of a kind, sorted by name. */
  all(kind: Kind, order?: Readonly<{ backwards?: boolean; pageSize?: number }>): AsyncIterable<StoredItem>;
  /**
   * With `ifVersion`, writes only over that version, and returns false otherwise. 0: only where there is no item, or one
   * without a valid version; versions count from 1.
   */
  put(kind: Kind, name: string, fields: Fields, ifVersion?: number): Promise<boolean>;
}

/** The keys of an item, and the field with the time of its deletion, in seconds since 1970. */
export const HoldTable = {
  partitionKey: "kind",
  sortKey: "name",
  forgetAt: "forgetAt",
} as const;

/** The field by which an item is forgotten so long after a moment. */
export const forgetAfter = (moment: Date, kept: Duration): Fields => ({
  [HoldTable.forgetAt]: Math.ceil((moment.getTime() + kept) / 1_000),
});

/** The kinds of items; each is one partition, so that one query reads all of it. */
export const Kind = {
  record: "record",
  history: "history",
  sweep: "sweep",
  probe: "probe",
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];
