import * as v from "valibot";
import { levels, mostPauses, mostTimes, type Pause, type Pauses } from "../core/pauses.ts";
import { count } from "../schemas/holds.ts";
import { fields, list } from "../schemas/parse.ts";
import { moment } from "../schemas/values.ts";

/** Below zero it is a saving. */
const balance = v.pipe(v.number("a whole number"), v.integer("a whole number"));

/** Pauses that began together: thousands of nodes may become superfluous at once, and an item has room for 400 KB. */
const group = fields({
  since: moment,
  levels: list(count, mostPauses),
  pods: v.exactOptional(list(count, mostPauses)),
});
type Group = v.InferOutput<typeof group>;

export const pauses = v.pipe(
  fields({ open: list(group, 2 * mostTimes), gone: count, learned: list(balance, levels) }),
  v.transform(({ open, ...rest }): Pauses => ({ open: open.flatMap(pausesIn), ...rest })),
);

const pausesIn = ({ since, levels, pods }: Group): readonly Pause[] =>
  levels.map((level, i) => ({ since, level, ...(pods && { pods: pods[i] ?? 0 }) }));

/** In the form in which they are stored. */
export function storedPauses({ open, ...rest }: Pauses) {
  const groups: { since: Date; levels: number[]; pods?: number[] }[] = [];
  for (const { since, level, pods } of open) {
    const last = groups.at(-1);
    const isSame =
      last?.since.getTime() === since.getTime() && (last.pods === undefined) === (pods === undefined);
    const one = isSame ? last : { since, levels: [], ...(pods !== undefined && { pods: [] }) };
    if (!isSame) groups.push(one);
    one.levels.push(level);
    if (pods !== undefined) one.pods?.push(pods);
  }
  return { open: groups, ...rest };
}
