import { type Duration, formatDuration, hours, minutes } from "../../lambda/core/duration.ts";
import type { NodeLife } from "./lives.ts";
import { type Plan, type Replay, regrettedEnds, replay } from "./replay.ts";

/** What an hour of an instance type costs; undefined where no price is known. */
export type PriceOf = (instanceType: string | undefined) => number | undefined;

/** One value of `hold`, and its result on this history. */
export type Candidate = Readonly<{
  hold: Duration;
  avoided: number;
  idleMinutes: number;
  /** Of the minutes that the nodes ran anyway. */
  idleShare: number;
  money?: number;
}>;

/** What to do, and why. */
export type Advice = Readonly<{
  of: string;
  launches: number;
  terminations: number;
  regretted: number;
  /** Minutes that nodes really ran. */
  nodeMinutes: number;
  candidates: readonly Candidate[];
  /** The result of `hold=auto` on the same history. */
  auto: Candidate;
  recommended?: Candidate;
  because: string;
}>;

export type Question = Omit<Plan, "hold" | "auto"> &
  Readonly<{ holds: readonly Duration[]; relaunchCost: Duration; until: Date; priceOf?: PriceOf }>;

export const usualHolds: readonly Duration[] = [2, 5, 10, 15, 20, 30, 45, 60, 90, 120].map(minutes);

/** Enough of what can be avoided: the last fifth costs most. */
const enough = 0.8;
const fewest = 3;
const seldom = 0.05;
const useless = 0.2;
/** More idle time than this for each avoided end is a bad bargain. */
const dear: Duration = hours(2);

/** Advice for everything, and for each NodePool by itself where there are several. */
export function adviseAll(lives: readonly NodeLife[], question: Question): readonly Advice[] {
  const pools = Map.groupBy(lives, ({ nodePool }) => nodePool);
  const each = [...pools].sort(([a], [b]) => a.localeCompare(b));
  const all = advise("cluster", lives, question);
  if (each.length < 2) return [all];
  return [all, ...each.map(([pool, ofPool]) => advise(`nodepool/${pool}`, ofPool, question))];
}

/** Tries each value of `hold` on the same history, and recommends one, or none. */
export function advise(of: string, lives: readonly NodeLife[], question: Question): Advice {
  const { holds, relaunchCost, until, priceOf, ...plan } = question;
  const nodeMinutes = lives.reduce((sum, life) => sum + minutesOf(life.launchedAt, life.endedAt ?? until), 0);
  const replays = holds.map((hold) => replay(lives, { ...plan, hold, auto: false, relaunchCost }));
  const candidates = replays.map((one) => candidateOf(one, nodeMinutes, priceOf));
  const learned = replay(lives, { ...plan, hold: relaunchCost, auto: true, relaunchCost });
  const auto = candidateOf(learned, nodeMinutes, priceOf);
  const terminations = lives.filter(({ endedBy }) => endedBy === "karpenter").length;
  const regretted = regrettedEnds(lives, plan.regretWithin).size;
  const facts = { of, launches: lives.length, terminations, regretted, nodeMinutes, candidates, auto };
  return { ...facts, ...choose(facts, plan.regretWithin) };
}

function candidateOf(
  { plan, avoided, idle, kept }: Replay,
  nodeMinutes: number,
  priceOf?: PriceOf,
): Candidate {
  const prices = kept.map(({ life, from, to }) => {
    const price = priceOf?.(life.instanceType);
    return price === undefined ? undefined : (price * (to.getTime() - from.getTime())) / hours(1);
  });
  const isPriced = priceOf !== undefined && prices.every((price) => price !== undefined);
  return {
    hold: plan.hold,
    avoided,
    idleMinutes: idle / minutes(1),
    idleShare: nodeMinutes > 0 ? idle / minutes(1) / nodeMinutes : 0,
    ...(isPriced && { money: prices.reduce<number>((sum, price) => sum + (price ?? 0), 0) }),
  };
}

/** What to do, and why, in words. */
export const verdict = ({ recommended, because }: Advice): string =>
  recommended ? `Recommended: ${because}` : because;

type Facts = Omit<Advice, "recommended" | "because">;

function choose(facts: Facts, within: Duration): Pick<Advice, "recommended" | "because"> {
  const { terminations, regretted, candidates } = facts;
  const soon = formatDuration(within);
  const none = (because: string) => ({ because: `The holder would not help: ${because}.` });
  if (terminations === 0) return none("Karpenter removed no node in that time");
  if (regretted < fewest || regretted / terminations < seldom) {
    return none(
      `only ${regretted} of ${terminations} removed nodes were followed by a similar launch within ${soon}`,
    );
  }
  const most = Math.max(...candidates.map(({ avoided }) => avoided));
  if (most / regretted < useless) {
    return none(
      `no hold tried would have kept more than ${most} of ${regretted} nodes that were missed soon after`,
    );
  }
  const bargains = candidates.filter(
    ({ avoided, idleMinutes }) => avoided > 0 && idleMinutes / avoided <= dear / minutes(1),
  );
  const best = Math.max(0, ...bargains.map(({ avoided }) => avoided));
  const recommended = bargains.find(({ avoided }) => avoided >= enough * best);
  if (!recommended)
    return none(`each node it would have saved costs more than ${formatDuration(dear)} of idle nodes`);
  return { recommended, because: reasonFor(recommended, facts) };
}

function reasonFor(chosen: Candidate, { regretted, candidates }: Facts): string {
  const most = candidates.reduce((a, b) => (b.avoided > a.avoided ? b : a), chosen);
  const share = Math.round((100 * chosen.avoided) / regretted);
  const sentence = `${formatDuration(chosen.hold)} would have avoided ${chosen.avoided} of ${regretted} regretted ends (${share} %)`;
  const beyond = `; ${formatDuration(most.hold)} would have avoided ${most.avoided} for ${costOf(most)}`;
  return `${sentence} for ${costOf(chosen)}${most === chosen ? "" : beyond}.`;
}

const costOf = ({ idleMinutes, idleShare, money }: Candidate): string => {
  const inMoney = money === undefined ? "" : `, ${money.toFixed(2)} in money`;
  return `${(idleMinutes / 60).toFixed(1)} idle node-hours (${(100 * idleShare).toFixed(1)} % more${inMoney})`;
};

const minutesOf = (from: Date, to: Date): number => Math.max(0, to.getTime() - from.getTime()) / minutes(1);
