import { BrokenSetupError } from "../core/errors.ts";

/** What is stored: dates become ISO strings, what is undefined is left out. */
export type Storable = string | number | boolean | Date | Fields | undefined;
export type Fields = { readonly [name: string]: Storable };

/** An item as JSON has it. */
export type Item = Readonly<Record<string, unknown>>;

/** Reads an item's fields; the first that is not what it must be is named in the error. */
export class StoredFields {
  readonly #item: Item;
  readonly #where: string;

  constructor(item: Item, where: string) {
    this.#item = item;
    this.#where = where;
  }

  has(name: string): boolean {
    return this.#item[name] !== undefined;
  }

  text(name: string): string {
    const text = this.#item[name];
    return typeof text === "string" ? text : this.refuse(name, "text");
  }

  flag(name: string): boolean {
    const flag = this.#item[name];
    return typeof flag === "boolean" ? flag : this.refuse(name, "true or false");
  }

  count(name: string): number {
    const count = this.#item[name];
    return isCount(count) ? count : this.refuse(name, "a whole number");
  }

  moment(name: string): Date {
    const text = this.#item[name];
    const moment = new Date(typeof text === "string" ? text : Number.NaN);
    return Number.isNaN(moment.getTime()) ? this.refuse(name, "an ISO date") : moment;
  }

  choice<T extends string>(name: string, allowed: readonly T[]): T {
    const text = this.text(name);
    return allowed.find((one) => one === text) ?? this.refuse(name, allowed.join(" or "));
  }

  within(name: string): StoredFields {
    const map = this.#item[name];
    return isItem(map) ? new StoredFields(map, `${this.#where}, ${name}`) : this.refuse(name, "a map");
  }

  /** The names of all fields. */
  names(): readonly string[] {
    return Object.keys(this.#item);
  }

  refuse(name: string, expected: string): never {
    const found = JSON.stringify(this.#item[name])?.slice(0, 100) ?? "nothing";
    throw new BrokenSetupError(
      `${this.#where}: ${name} must be ${expected}, not ${found}. Mend this item, or delete it: ` +
        "the next sweep takes off what marks it leaves behind",
    );
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isItem = (value: unknown): value is Item =>
  typeof value === "object" && value !== null && !Array.isArray(value);
