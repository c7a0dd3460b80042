import * as v from "valibot";
import { type Bursts, idleRemembered, mostNodes } from "../core/auto/bursts.ts";
import { bucketOf, gapEnds } from "../core/auto/staircase.ts";
import { fields, list } from "./parse.ts";
import { moment, wholeNumber } from "./values.ts";

/** What was learned of bursts, as text in the record of a scope. */
const version = 2;

const amount = v.pipe(
  v.number("a number"),
  v.check((n) => Number.isFinite(n) && n >= 0, "a number from 0"),
);
const nodes = wholeNumber(mostNodes);
const idleLevels = fields({
  nodes,
  since: moment,
  kept: v.exactOptional(wholeNumber()),
  busy: v.exactOptional(v.literal(true, "true")),
});

const bursts = v.pipe(
  fields({
    version: v.literal(version, `${version}`),
    largest: nodes,
    buckets: list(fields({ gaps: list(amount, gapEnds.length), debt: amount }), bucketOf(mostNodes) + 1),
    idle: list(idleLevels, idleRemembered),
  }),
  v.check(
    ({ largest, buckets, idle }) =>
      buckets.length === (largest === 0 ? 0 : bucketOf(largest) + 1) &&
      idle.every(({ nodes }, at) => nodes > (idle[at - 1]?.nodes ?? 0) && nodes <= largest),
    "levels in their order",
  ),
);

export const writeBursts = (learned: Bursts): string => JSON.stringify({ version, ...learned });

/** Reads what `writeBursts` wrote; undefined for any other text. */
export function readBursts(text: string): Bursts | undefined {
  try {
    const { version: _, ...learned } = v.parse(bursts, JSON.parse(text));
    return learned;
  } catch {
    return undefined;
  }
}
