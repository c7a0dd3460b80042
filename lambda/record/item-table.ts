import type { Kind } from "./item-keys.ts";
import type { Fields, StoredFields } from "./stored-fields.ts";

/** Where items are kept: a DynamoDB table, or a file. Reads see every write that was acknowledged before. */
export interface ItemTable {
  find(kind: Kind, name: string): Promise<StoredFields | undefined>;
  /** Every item of a kind, sorted by name. */
  all(kind: Kind, order?: Readonly<{ backwards?: boolean; pageSize?: number }>): AsyncIterable<StoredFields>;
  /** With `ifVersion`, writes only over that version (0: over nothing), and returns false otherwise. */
  put(kind: Kind, name: string, fields: Fields, ifVersion?: number): Promise<boolean>;
}
