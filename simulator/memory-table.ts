import { fromAttributes, toAttributes } from "../lambda/aws/dynamodb-table.ts";
import type { Fields, Kind, StoredItem } from "../lambda/record/item-table.ts";
import { ItemsInMemory } from "../local/run/items-in-memory.ts";

/** The table in memory: it keeps a copy of what is put, with the values that DynamoDB would return. */
export class MemoryTable extends ItemsInMemory {
  protected override stored(kind: Kind, name: string, fields: Fields): StoredItem {
    const item = fromAttributes(toAttributes({ ...fields, kind, name }));
    return { item, where: `Table in memory, ${kind} ${name}` };
  }

  /** Reads all items of a kind at any time, without a call; each is read once after it was written. */
  view<T>(kind: Kind, read: (item: StoredItem, before?: T) => T): () => ReadonlyMap<string, T> {
    const seen = new Map<string, StoredItem>();
    const values = new Map<string, T>();
    return () => {
      for (const [name, item] of this.kinds.get(kind) ?? []) {
        if (seen.get(name) === item) continue;
        seen.set(name, item);
        values.set(name, read(item, values.get(name)));
      }
      return values;
    };
  }
}
