import {
  costOf,
  type Learned,
  learnFromUse,
  nothingLearned,
  type Terms,
} from "../../lambda/core/auto/learned.ts";
import { after, type Duration, later } from "../../lambda/core/duration.ts";
import type { Burst, Trace } from "./traces.ts";

/** Chooses how long nodes are held from what was learned. */
export type Rule = (learned: Learned, terms: Terms) => Duration;
export type Played = Readonly<{ cost: number; bursts: readonly Burst[]; learned: Learned }>;

type State = Readonly<{ learned: Learned; dueAt: Date }>;
type Use = Readonly<{ at: Date; nodes: number }>;

/**
 * Plays one trace with one rule as the holder would: bursts that come while nodes are held are noticed when the hold is
 * due, and only the last of them; a burst that comes later launches its nodes again. Costs are milliseconds of one node.
 */
export function play(trace: Trace, count: number, rule: Rule, terms: Terms): Played {
  /** Learns from a use, and returns how long its nodes are held from then on. */
  const notice = ({ learned, dueAt }: State, use: Use, held: boolean): State => {
    const observed = learnFromUse(learned, { ...use, kind: "pods", held }, terms);
    const length = rule(observed, terms);
    const idle = { since: use.at, nodes: use.nodes, length };
    return { learned: { ...observed, idle }, dueAt: later(dueAt, after(use.at, length)) };
  };

  const bursts: Burst[] = [];
  let cost = 0;
  let last: Use = { at: new Date(0), nodes: trace.nextNodes() };
  let state = notice({ learned: nothingLearned, dueAt: last.at }, last, false);
  let unnoticed: Use | undefined;
  while (bursts.length < count) {
    const { at, nodes } = last;
    const atDue = unnoticed ? notice(state, unnoticed, true) : state;
    const gap = trace.nextGap(atDue.dueAt.getTime() - at.getTime());
    const next = { at: after(at, gap), nodes: trace.nextNodes() };
    if (next.at > state.dueAt) [state, unnoticed] = [atDue, undefined];
    cost += nodes * costOf(gap, state.dueAt.getTime() - at.getTime(), terms.relaunchCost);
    bursts.push({ nodes, gap });
    if (next.at <= state.dueAt) unnoticed = next;
    else state = notice(state, next, false);
    last = next;
  }
  return { cost, bursts, learned: state.learned };
}

/** The cost of one length for all bursts. */
export const costOfConstant = (bursts: readonly Burst[], length: Duration, { relaunchCost }: Terms): number =>
  bursts.reduce((sum, { nodes, gap }) => sum + nodes * costOf(gap, length, relaunchCost), 0);

/** The least that one length for all bursts could have cost: only 0 and lengths at which a gap ends can be the best. */
export const costOfBestConstant = (bursts: readonly Burst[], terms: Terms): number =>
  Math.min(
    ...[0, ...bursts.map(({ gap }) => gap)]
      .filter((length) => length <= terms.cap)
      .map((length) => costOfConstant(bursts, length, terms)),
  );
