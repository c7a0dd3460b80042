import { later } from "../../lambda/core/duration.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import type { CallContext, Holds, Nodes } from "../../lambda/core/ports.ts";
import { untilOf } from "../../lambda/core/requests.ts";
import type { Rules } from "../../lambda/core/rules.ts";

/** How many nodes the holds of this record keep marked, and until when; undefined where it is none. */
export async function stillHeld(
  { holds, nodes, rules }: Readonly<{ holds: Holds; nodes: Nodes; rules: Rules }>,
  context: CallContext,
): Promise<Readonly<{ nodes: number | "unknown"; until: Date }> | undefined> {
  const present = (await holds.all()).records.filter(({ hold }) => hold);
  const ends = present.flatMap((record) => record.hold?.ended?.at ?? untilOf(record, rules) ?? []);
  if (ends.length === 0) return undefined;
  const ids = new Set(present.map(({ hold }) => hold?.id));
  const marked = await nodes.listMarked(context).then(
    (all) => all.filter(({ labels }) => ids.has(labels?.[holdLabel])).length,
    () => "unknown" as const,
  );
  return marked === 0 ? undefined : { nodes: marked, until: ends.reduce(later) };
}
