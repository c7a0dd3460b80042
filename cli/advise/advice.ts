import { type Duration, formatDuration, hours, minutes } from "../../lambda/core/duration.ts";
import type { NodeLife } from "./lives.ts";
import { type Plan, type Replay, regrettedEnds, replay } from "./replay.ts";

/** What an hour of an instance type costs; undefined where no price is known, and then nothing is advised in money. */
export type PriceOf = (instanceType: string | undefined) => number | undefined;

/** One value of `hold`, and its result on this history: a month of it, or, where it is too short, the whole of it. */
export type Candidate = Readonly<{
  hold: Duration;
  /** Launches that it would have made needless. */
  avoided: number;
  /** Node-hours that it would have kept nodes idle, and what is left of the worth of the avoided launches. */
  idle: number;
  net: number;
  /** The net in money. */
  money?: number;
}>;

/** What to do, and why. */
export type Advice = Readonly<{
  of: string;
  launches: number;
  terminations: number;
  /** Ends that were soon followed by a launch. */
  regretted: number;
  /** The best first. */
  candidates: readonly Candidate[];
  recommended?: Candidate;
  because: string;
}>;

export type Question = Omit<Plan, "hold"> &
  Readonly<{
    cluster: string;
    holds: readonly Duration[];
    /** What a needless launch is worth, in time of its node. */
    relaunchCost: Duration;
    from: Date;
    until: Date;
    priceOf?: PriceOf;
  }>;

export const usualHolds: readonly Duration[] = [2, 5, 10, 15, 20, 30, 45, 60, 90, 120].map(minutes);

/** From fewer nodes that were needed again, nothing is concluded. */
const fewest = 3;

/** From a shorter history no month is estimated. */
const shortest = hours(48);

/** What figures are of, and by what those of the history are multiplied for that. */
export function scaleOf({ from, until }: Question) {
  const length = until.getTime() - from.getTime();
  if (length < shortest) return { per: "in that time", factor: 1 } as const;
  return { per: "a month", factor: hours(30 * 24) / length } as const;
}

/** Advice for everything, and for each NodePool by itself where there are several. */
export function adviseAll(lives: readonly NodeLife[], question: Question): readonly Advice[] {
  const pools = Map.groupBy(lives, ({ nodePool }) => nodePool);
  const each = [...pools].sort(([a], [b]) => a.localeCompare(b));
  const all = advise("cluster", lives, question);
  if (each.length < 2) return [all];
  return [all, ...each.map(([pool, ofPool]) => advise(`nodepool/${pool}`, ofPool, question))];
}

/** Tries each value of `hold` on the same history, and recommends the one with the largest net, or none. */
export function advise(of: string, lives: readonly NodeLife[], question: Question): Advice {
  const { holds, relaunchCost } = question;
  const candidates = holds
    .map((hold) => candidateOf(hold, replay(lives, { ...question, hold }), question))
    .sort((a, b) => b.net - a.net);
  const terminations = lives.filter(({ endedBy }) => endedBy === "karpenter").length;
  const regretted = regrettedEnds(lives, relaunchCost).size;
  const facts = { of, launches: lives.length, terminations, regretted, candidates };
  return { ...facts, ...choose(facts, question) };
}

function candidateOf(hold: Duration, { kept, avoided, idle }: Replay, question: Question): Candidate {
  const { relaunchCost, priceOf } = question;
  const { factor } = scaleOf(question);
  const inHours = (duration: Duration) => (factor * duration) / hours(1);
  const money = kept.map(({ life, from, to, spared }) => {
    const net = (spared ? relaunchCost : 0) - (to.getTime() - from.getTime());
    return inHours(net) * (priceOf?.(life.instanceType) ?? 0);
  });
  return {
    hold,
    avoided: factor * avoided,
    idle: inHours(idle),
    net: inHours(avoided * relaunchCost - idle),
    ...(priceOf && { money: money.reduce((a, b) => a + b, 0) }),
  };
}

type Facts = Omit<Advice, "recommended" | "because">;

function choose(facts: Facts, question: Question): Pick<Advice, "recommended" | "because"> {
  const { terminations, regretted, candidates } = facts;
  const price = formatDuration(question.relaunchCost);
  const none = (because: string) => ({ because: `The holder would not help: ${because}.` });
  if (terminations === 0) return none("Karpenter removed no node in that time");
  const [best] = candidates;
  if (!best || best.net <= 0) {
    const costOf = ({ idle, avoided }: Candidate) => hours(idle / avoided);
    const [cheapest] = candidates.filter(({ avoided }) => avoided > 0).sort((a, b) => costOf(a) - costOf(b));
    if (!cheapest) return none("no hold tried would have made a launch needless");
    const needed = `${formatDuration(cheapest.hold)} would pay if one were worth more than ${formatDuration(costOf(cheapest))}`;
    const because = `The holder would not pay while a relaunch is worth ${price} of node time; ${needed} (--relaunch-cost).`;
    return { because };
  }
  if (regretted < fewest)
    return none(`only ${regretted} of ${terminations} removed nodes were needed again within ${price}`);
  const money = best.money === undefined ? "" : ` (${best.money.toFixed(2)} at your prices)`;
  const saves = `saves ${best.avoided.toFixed(0)} relaunches and costs ${best.idle.toFixed(1)} idle node-hours`;
  const net = `net ${best.net.toFixed(1)} node-hours${money} ${scaleOf(question).per}`;
  return { recommended: best, because: `Recommended: hold=${formatDuration(best.hold)} ${saves}, ${net}.` };
}
