import type { Kind } from "./item-keys.ts";

/** What is stored: dates become ISO strings, what is undefined is left out. */
export type Storable = string | number | boolean | Date | Fields | undefined;
export type Fields = { readonly [name: string]: Storable };

/** An item as JSON has it. */
export type Item = Readonly<Record<string, unknown>>;

/** An item, and where it was found. */
export type StoredItem = Readonly<{ item: Item; where: string }>;

/** Where items are kept: a DynamoDB table, or a file. Reads see every write that was acknowledged before. */
export interface ItemTable {
  find(kind: Kind, name: string): Promise<StoredItem | undefined>;
  /** Every item of a kind, sorted by name. */
  all(kind: Kind, order?: Readonly<{ backwards?: boolean; pageSize?: number }>): AsyncIterable<StoredItem>;
  /**
   * With `ifVersion`, writes only over that version, and returns false otherwise. 0: over nothing, or over what has no
   * version of ours, which are numbers from 1 on.
   */
  put(kind: Kind, name: string, fields: Fields, ifVersion?: number): Promise<boolean>;
}
