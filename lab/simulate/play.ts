import { type Bursts, learnFromBurst, noBursts, sameBurst } from "../../lambda/core/auto/bursts.ts";
import { decideStaircase, halfOf, lengthOf, type Terms } from "../../lambda/core/auto/staircase.ts";
import type { Duration } from "../../lambda/core/duration.ts";
import type { Need, Trace } from "./traces.ts";

/** Decides how long each level is kept. Moments are milliseconds since the trace began. */
export type Keeper = Readonly<{
  /** When a level is let go that was last needed at `since`; `last` is when any level was. */
  dueAt(level: number, since: Duration, last: Duration): Duration;
  /** Something began or ended; `before` is how many nodes were needed until then. */
  learn?(need: Need, before: number): void;
}>;

export const eachNode = (length: Duration): Keeper => ({ dueAt: (_, since) => since + length });
export const wholeCluster = (length: Duration): Keeper => ({
  dueAt: (_level, _since, last) => last + length,
});

/** What is learned level by level, and how long each level should be kept. */
function learning(terms: Terms) {
  let bursts: Bursts = noBursts;
  let staircase = decideStaircase(bursts, terms);
  return {
    dueAt(level: number, since: Duration): Duration {
      const idle = bursts.idle.find(({ nodes }) => nodes >= level);
      return (idle?.since.getTime() ?? since) + lengthOf(staircase, level);
    },
    learn(nodes: number, { from, to }: Need): void {
      const burst = { nodes, from: new Date(from), at: new Date(to), kind: "pods" } as const;
      bursts = learnFromBurst(bursts, burst, terms);
      staircase = decideStaircase(bursts, terms);
    },
  };
}

/** Lets each node go by itself, and sees exactly what is needed: more than a hold can do. */
export function nodeByNode(terms: Terms): Keeper {
  const { dueAt, learn } = learning(terms);
  return { dueAt, learn: (need) => learn(need.nodes, need) };
}

/**
 * `hold=auto`: all nodes are held until it no longer pays to keep half of the burst. A launch shows what is needed, since
 * everything that is held is full. Other changes show by the nodes whose pods come or go, perhaps on so many times the
 * nodes that they need: small pods are spread over all that have room.
 */
export function autoKeeper(terms: Terms, spread = 1): Keeper {
  const { dueAt, learn } = learning(terms);
  let held = 0;
  const endOfHold = (last: Duration) => (held === 0 ? last : dueAt(halfOf(held), last));
  return {
    dueAt: (_level, _since, last) => endOfHold(last),
    learn(need, before) {
      const kept = need.from > endOfHold(need.from) ? 0 : held;
      held = Math.max(kept, need.nodes);
      const isLaunch = need.nodes > Math.max(kept, before);
      const touched = Math.max(1, Math.abs(need.nodes - before)) * spread;
      learn(isLaunch ? need.nodes : Math.min(held, touched), need);
    },
  };
}

/** How long a level was idle; `isOpen`: it was not needed any more when the trace ended. */
type Gap = Readonly<{ length: Duration; isOpen: boolean }>;
export type Played = Readonly<{ cost: Duration; relaunches: number; gaps: readonly Gap[] }>;

/**
 * Plays a trace, level by level: idle time while a level is kept, and a relaunch if it is needed after it was let go, in
 * milliseconds of one node. Nobody lets a node go within a minute.
 */
export function play(trace: Trace, keeper: Keeper, { relaunchCost }: Terms): Played {
  const since: Duration[] = [];
  const goneAt: (Duration | undefined)[] = [];
  const gaps: Gap[] = [];
  let cost = 0;
  let relaunches = 0;
  let last = 0;
  const letGo = (until: Duration) => {
    since.forEach((from, at) => {
      if (goneAt[at] !== undefined || from >= until) return;
      // A length that was learned meanwhile counts from now on.
      const due = Math.max(keeper.dueAt(at + 1, from, last), last);
      if (due < until) goneAt[at] = due;
    });
  };
  const learn = (need: Need, before: number) => {
    keeper.learn?.(need, before);
    last = need.to;
  };
  for (const [index, { from, to, nodes }] of trace.entries()) {
    const previous = trace[index - 1];
    letGo(from);
    for (let at = 0; at < nodes; at++) {
      const length = from - (since[at] ?? from);
      const isGone = goneAt[at] !== undefined && length >= sameBurst;
      if (isGone) relaunches += 1;
      cost += isGone ? (goneAt[at] ?? 0) - (since[at] ?? 0) + relaunchCost : length;
      if (length > 0) gaps.push({ length, isOpen: false });
      since[at] = to;
      goneAt[at] = undefined;
    }
    learn({ from, to: from, nodes }, previous?.to === from ? previous.nodes : 0);
    if (to === from) continue;
    letGo(to);
    learn({ from, to, nodes }, nodes);
  }
  since.forEach((from, at) => {
    if (last <= from) return;
    cost += (goneAt[at] ?? last) - from;
    gaps.push({ length: last - from, isOpen: true });
  });
  return { cost, relaunches, gaps };
}

/** The least that anyone could have paid who knew every gap. */
export const costOfOptimum = (gaps: readonly Gap[], { relaunchCost }: Terms): Duration =>
  gaps.reduce((sum, { length, isOpen }) => sum + (isOpen ? 0 : leastFor(length, relaunchCost)), 0);

const leastFor = (gap: Duration, relaunchCost: Duration) =>
  gap < sameBurst ? gap : Math.min(gap, relaunchCost);

/** The least that one length for each node could have cost: only 0 and lengths at which a gap ends can be the best. */
export function costOfBestConstant(gaps: readonly Gap[], { relaunchCost, cap }: Terms): Duration {
  const isShort = ({ length, isOpen }: Gap) => !isOpen && length < sameBurst;
  let idle = gaps.filter(isShort).reduce((sum, { length }) => sum + length, 0);
  const sorted = gaps.filter((gap) => !isShort(gap)).toSorted((a, b) => a.length - b.length);
  let relaunched = sorted.filter(({ isOpen }) => !isOpen).length;
  let best = idle + relaunched * relaunchCost;
  sorted.forEach(({ length, isOpen }, at) => {
    if (length > cap) return;
    idle += length;
    if (!isOpen) relaunched -= 1;
    best = Math.min(best, idle + (sorted.length - 1 - at) * length + relaunched * relaunchCost);
  });
  return best;
}
