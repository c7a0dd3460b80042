import { readFileSync } from "node:fs";
import * as v from "valibot";
import { BadInputError, messageOf } from "../../lambda/core/errors.ts";
import { anyObject, parse } from "../../lambda/schemas/parse.ts";
import { fileProblem } from "../../local/file-problem.ts";
import { fileText } from "../file-text.ts";

/** What an hour of an instance type costs; undefined where no price is known, and then nothing is shown in money. */
export type PriceOf = (instanceType: string | undefined) => number | undefined;

const aPrice = "a price an hour";
const prices = v.pipe(anyObject, v.record(v.string(), v.pipe(v.number(aPrice), v.minValue(0, aPrice))));

/** Prices an hour by instance type, from a file like {"m5.large": 0.096}, or one price for all. */
export function readPrices(path: string | undefined, price: number | undefined): PriceOf | undefined {
  if (path === undefined) return price === undefined ? undefined : () => price;
  const known = new Map(Object.entries(parse(unusable, prices, readJson(path), path)));
  return (type) => known.get(type ?? "") ?? price;
}

/** Names the instance types whose nodes have no price, so that their cost is not taken for none. */
export function describeMissingPrices(
  nodes: readonly Readonly<{ instanceType?: string }>[],
  priceOf: PriceOf | undefined,
): string[] {
  if (!priceOf) return [];
  const unpriced = nodes.filter(({ instanceType }) => priceOf(instanceType) === undefined);
  if (unpriced.length === 0) return [];
  const types = [...new Set(unpriced.map(({ instanceType = "an unknown type" }) => instanceType))].sort();
  const what = `No price is known for ${types.join(", ")} (${unpriced.length} of ${nodes.length} nodes)`;
  return [`${what}, so nothing is shown in money. Add them to --prices, or give --price.`];
}

const unusable = "These prices cannot be used";

function readJson(path: string): unknown {
  const text = textOf(path);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadInputError(unusable, [`${path} must be JSON like {"m5.large": 0.096}: ${messageOf(error)}`]);
  }
}

function textOf(path: string): string {
  try {
    return fileText(readFileSync(path));
  } catch (error) {
    throw new BadInputError(unusable, [`${path}: ${fileProblem(error)}`]);
  }
}
