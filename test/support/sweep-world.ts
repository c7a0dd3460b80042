import { nothingReleased } from "../../lambda/core/holds/end-hold.ts";
import type { ScopeRecord } from "../../lambda/core/holds/hold.ts";
import type { Context, Marked, Released } from "../../lambda/core/ports.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { coreWorld } from "./core-world.ts";

type Facts = Readonly<{
  records?: readonly ScopeRecord[];
  rules?: Partial<Rules>;
  /** What the pass over the marked nodes finds, by hold. */
  taken?: Readonly<Record<string, Partial<Released>>>;
  others?: Readonly<Record<string, number>>;
  left?: boolean;
  marked?: Partial<Marked>;
  released?: Partial<Released>;
}>;

/** A world to sweep at noon, with an hour for it; `deadlines` notes until when each stage may work. */
export function toSweep({ taken = {}, others = {}, left = false, ...facts }: Facts = {}) {
  const it = coreWorld(facts);
  const deadlines: Record<string, Date> = {};
  const releases = Object.entries(taken).map(([id, one]) => [id, { ...nothingReleased, ...one }] as const);
  const { mark } = it.context.nodes;
  const context: Context = {
    ...it.context,
    nodes: {
      ...it.context.nodes,
      releaseAll: async (ids, { deadline }) => {
        deadlines.releases = deadline;
        it.calls.push(["release all", ...ids]);
        return { released: new Map(releases), others: new Map(Object.entries(others)), left };
      },
      joinedSince: async (_since, _which, { deadline }) => {
        deadlines.recovery = deadline;
        return [];
      },
      mark: (what, at) => {
        deadlines.marks = at.deadline;
        return mark(what, at);
      },
    },
  };
  const named = (name: string) => it.calls.filter(([call]) => call === name).map(([, ...what]) => what);
  return { ...it, context, deadlines, named };
}
