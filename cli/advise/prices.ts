import { readFileSync } from "node:fs";
import { BadInputError } from "../../lambda/core/errors.ts";
import type { PriceOf } from "./advice.ts";
import type { NodeLife } from "./lives.ts";

/** Prices an hour by instance type, from a file like {"m5.large": 0.096}, or one price for all. */
export function readPrices(path: string | undefined, price: number | undefined): PriceOf | undefined {
  if (path === undefined) return price === undefined ? undefined : () => price;
  const read = parse(path);
  const problems = Object.entries(read)
    .filter(([, value]) => typeof value !== "number" || !(value >= 0))
    .map(([type, value]) => `${type} must be a price an hour, not ${JSON.stringify(value)}`);
  if (problems.length > 0) throw new BadInputError("These prices cannot be used", problems);
  const known = new Map(Object.entries(read).map(([type, value]) => [type, Number(value)]));
  return (type) => known.get(type ?? "") ?? price;
}

/** Names the instance types whose nodes have no price, so that their cost is not taken for none. */
export function describeMissingPrices(lives: readonly NodeLife[], priceOf: PriceOf | undefined): string[] {
  if (!priceOf) return [];
  const unpriced = lives.filter(({ instanceType }) => priceOf(instanceType) === undefined);
  if (unpriced.length === 0) return [];
  const types = [...new Set(unpriced.map(({ instanceType = "an unknown type" }) => instanceType))].sort();
  const what = `No price is known for ${types.join(", ")} (${unpriced.length} of ${lives.length} nodes)`;
  return [`${what}, so nothing is shown in money. Add them to --prices, or give --price.`];
}

function parse(path: string): Readonly<Record<string, unknown>> {
  const expected = `${path} must be JSON like {"m5.large": 0.096}`;
  try {
    const read: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof read === "object" && read !== null && !Array.isArray(read)) return { ...read };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new BadInputError("These prices cannot be used", [`${expected}: ${why}`]);
  }
  throw new BadInputError("These prices cannot be used", [expected]);
}
