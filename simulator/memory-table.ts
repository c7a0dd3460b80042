import { fromAttributes, toAttributes } from "../lambda/aws/dynamodb-table.ts";
import type { Fields, ItemTable, Kind, StoredItem } from "../lambda/record/item-table.ts";

/** The table in memory: it keeps a copy of what is put, with the values that DynamoDB would return. */
export class MemoryTable implements ItemTable {
  readonly #kinds = new Map<Kind, Map<string, StoredItem>>();

  async find(kind: Kind, name: string): Promise<StoredItem | undefined> {
    return this.#kinds.get(kind)?.get(name);
  }

  async *all(kind: Kind, { backwards = false } = {}): AsyncGenerator<StoredItem> {
    const items = [...(this.#kinds.get(kind) ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1));
    for (const [, item] of backwards ? items.reverse() : items) yield item;
  }

  async put(kind: Kind, name: string, fields: Fields, ifVersion?: number): Promise<boolean> {
    const items = this.#kinds.get(kind) ?? new Map<string, StoredItem>();
    const { version = 0 } = items.get(name)?.item ?? {};
    const isExpected = ifVersion === 0 ? typeof version !== "number" || version < 1 : version === ifVersion;
    if (ifVersion !== undefined && !isExpected) return false;
    const item = fromAttributes(toAttributes({ ...fields, kind, name }));
    this.#kinds.set(kind, items.set(name, { item, where: `Table in memory, ${kind} ${name}` }));
    return true;
  }

  /** Reads all items of a kind at any time, without a call; each is read once after it was written. */
  view<T>(kind: Kind, read: (item: StoredItem, before?: T) => T): () => ReadonlyMap<string, T> {
    const seen = new Map<string, StoredItem>();
    const values = new Map<string, T>();
    return () => {
      for (const [name, item] of this.#kinds.get(kind) ?? []) {
        if (seen.get(name) === item) continue;
        seen.set(name, item);
        values.set(name, read(item, values.get(name)));
      }
      return values;
    };
  }
}
