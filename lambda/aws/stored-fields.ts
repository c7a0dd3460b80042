import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { BrokenSetupError } from "../core/errors.ts";

export type Storable = string | number | boolean | Date | Fields | undefined;
export type Fields = { readonly [name: string]: Storable };
export type Item = Record<string, AttributeValue>;

/** Writes fields as DynamoDB has them: dates as ISO strings, what is undefined not at all. */
export function writeItem(fields: Fields): Item {
  const item: Item = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) item[name] = writeValue(value);
  }
  return item;
}

function writeValue(value: Exclude<Storable, undefined>): AttributeValue {
  if (typeof value === "string") return { S: value };
  if (typeof value === "number") return { N: String(value) };
  if (typeof value === "boolean") return { BOOL: value };
  if (value instanceof Date) return { S: value.toISOString() };
  return { M: writeItem(value) };
}

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
    return this.#item[name]?.S ?? this.refuse(name, "text");
  }

  flag(name: string): boolean {
    return this.#item[name]?.BOOL ?? this.refuse(name, "true or false");
  }

  count(name: string): number {
    const count = Number(this.#item[name]?.N ?? Number.NaN);
    return Number.isSafeInteger(count) && count >= 0 ? count : this.refuse(name, "a whole number");
  }

  moment(name: string): Date {
    const moment = new Date(this.#item[name]?.S ?? Number.NaN);
    return Number.isNaN(moment.getTime()) ? this.refuse(name, "an ISO date") : moment;
  }

  choice<T extends string>(name: string, allowed: readonly T[]): T {
    const text = this.text(name);
    return allowed.find((one) => one === text) ?? this.refuse(name, allowed.join(" or "));
  }

  within(name: string): StoredFields {
    const map = this.#item[name]?.M ?? this.refuse(name, "a map");
    return new StoredFields(map, `${this.#where}, ${name}`);
  }

  refuse(name: string, expected: string): never {
    const found = JSON.stringify(this.#item[name])?.slice(0, 100) ?? "nothing";
    throw new BrokenSetupError(
      `${this.#where}: ${name} must be ${expected}, not ${found}. Mend this item, or delete it: ` +
        "the next sweep takes off what marks it leaves behind",
    );
  }
}
