import { type AttributeMap, fromAttributes, toAttributes } from "../lambda/aws/dynamodb-values.ts";
import type { Kind } from "../lambda/record/item-keys.ts";
import type { Fields, ItemTable, StoredItem } from "../lambda/record/item-table.ts";

/** The table in memory: it keeps the values that DynamoDB would keep, and returns a copy of them with each read. */
export class MemoryTable implements ItemTable {
  readonly #kinds = new Map<Kind, Map<string, AttributeMap>>();

  async find(kind: Kind, name: string): Promise<StoredItem | undefined> {
    const item = this.#kinds.get(kind)?.get(name);
    return item && stored(kind, name, item);
  }

  async *all(kind: Kind, { backwards = false } = {}): AsyncGenerator<StoredItem> {
    const items = [...(this.#kinds.get(kind) ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1));
    for (const [name, item] of backwards ? items.reverse() : items) yield stored(kind, name, item);
  }

  async put(kind: Kind, name: string, fields: Fields, ifVersion?: number): Promise<boolean> {
    const items = this.#kinds.get(kind) ?? new Map<string, AttributeMap>();
    const present = items.get(name);
    const version = present?.version?.N;
    const isExpected =
      ifVersion === 0 ? version === undefined || Number(version) < 1 : version === String(ifVersion);
    if (ifVersion !== undefined && !isExpected) return false;
    this.#kinds.set(kind, items.set(name, toAttributes(fields)));
    return true;
  }

  /** Reads all items of a kind at any time, without a call; each is read once after it was written. */
  view<T>(kind: Kind, read: (item: StoredItem, before?: T) => T): () => ReadonlyMap<string, T> {
    const seen = new Map<string, Readonly<{ item: AttributeMap; value: T }>>();
    const values = new Map<string, T>();
    return () => {
      for (const [name, item] of this.#kinds.get(kind) ?? []) {
        const last = seen.get(name);
        if (last?.item === item) continue;
        const value = read(stored(kind, name, item), last?.value);
        seen.set(name, { item, value });
        values.set(name, value);
      }
      return values;
    };
  }
}

const stored = (kind: Kind, name: string, item: AttributeMap): StoredItem => ({
  item: { ...fromAttributes(item), kind, name },
  where: `Table in memory, ${kind} ${name}`,
});
