import type { Fields, ItemTable, Kind, StoredItem } from "../../lambda/record/item-table.ts";

/** A table in memory. What of an item it keeps, and where it says that it is, depends on what it stands for. */
export abstract class ItemsInMemory implements ItemTable {
  protected readonly kinds = new Map<Kind, Map<string, StoredItem>>();

  /** The item as it is found later. */
  protected abstract stored(kind: Kind, name: string, fields: Fields): StoredItem;

  async find(kind: Kind, name: string): Promise<StoredItem | undefined> {
    return this.kinds.get(kind)?.get(name);
  }

  async *all(kind: Kind, { backwards = false } = {}): AsyncGenerator<StoredItem> {
    const items = [...(this.kinds.get(kind) ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1));
    for (const [, item] of backwards ? items.reverse() : items) yield item;
  }

  async put(kind: Kind, name: string, fields: Fields, ifVersion?: number): Promise<boolean> {
    const { version } = this.kinds.get(kind)?.get(name)?.item ?? {};
    const isNone = typeof version !== "number" || version < 1;
    if (ifVersion !== undefined && !(ifVersion === 0 ? isNone : version === ifVersion)) return false;
    this.keep(kind, name, this.stored(kind, name, fields));
    return true;
  }

  protected keep(kind: Kind, name: string, item: StoredItem): void {
    const items = this.kinds.get(kind) ?? new Map<string, StoredItem>();
    this.kinds.set(kind, items.set(name, item));
  }
}
