import { after, type Duration } from "../../lambda/core/duration.ts";
import { endOf, launchHoldAfter } from "../../lambda/core/launches.ts";
import type { LaunchHold } from "../../lambda/core/record.ts";
import { type Rules, scopeOf } from "../../lambda/core/rules.ts";
import type { NodeLife } from "./lives.ts";

/** The settings of the replayed holder. */
export type Plan = Pick<Rules, "hold" | "maxHold" | "breather" | "scope"> &
  Readonly<{
    /** A command that Karpenter began before a hold continues: for this long a hold avoids no end. */
    begunBefore: Duration;
  }>;

/** A node that a hold would have kept beyond its real end. */
export type Kept = Readonly<{
  life: NodeLife;
  from: Date;
  to: Date;
  /** The launch that it would have made needless. */
  spared?: NodeLife;
}>;

/** The result of a replay. */
export type Replay = Readonly<{
  kept: readonly Kept[];
  /** The launches that it would have made needless. */
  avoided: number;
  idle: Duration;
}>;

type NodeEvent = Readonly<{ at: Date; life: NodeLife; is: "launch" | "end" }>;

/** Ends that Karpenter chose, and that are followed by the launch of like capacity soon after, paired one to one. */
export function regrettedEnds(lives: readonly NodeLife[], within: Duration): ReadonlyMap<NodeLife, NodeLife> {
  const pairs = new Map<NodeLife, NodeLife>();
  const waiting = new Map<string, NodeEvent[]>();
  for (const event of nodeEventsOf(lives)) {
    const { at, life, is } = event;
    const open = waiting.get(life.nodePool) ?? [];
    waiting.set(life.nodePool, open);
    if (is === "end") {
      open.push(event);
      continue;
    }
    // The oldest that still counts: no other choice makes more pairs.
    while (open[0] && after(open[0].at, within) < at) open.shift();
    const ended = open.shift();
    if (ended) pairs.set(ended.life, life);
  }
  return pairs;
}

/** Replays history with a holder: the nodes that holds would have kept, the launches that these would have spared, and their idle time. */
export function replay(lives: readonly NodeLife[], plan: Plan): Replay {
  const scopes = Map.groupBy(lives, ({ nodePool }) => scopeOf(plan, nodePool));
  const kept = [...scopes.values()].flatMap((ofScope) => keptIn(ofScope, plan));
  return {
    kept,
    avoided: kept.filter(({ spared }) => spared).length,
    idle: kept.reduce((sum, { from, to }) => sum + to.getTime() - from.getTime(), 0),
  };
}

/** What the holds of one scope would have kept. CloudTrail names every launch at once. */
function keptIn(lives: readonly NodeLife[], plan: Plan): readonly Kept[] {
  const rules = { ...plan, auto: false, initialDelay: 0 };
  const kept: Kept[] = [];
  let hold: LaunchHold | undefined;
  /** Launches in a breather do not count. */
  let countFrom = new Date(0);
  let waiting: NodeEvent[] = [];
  const endHoldDueBy = (now: Date) => {
    const end = hold && endOf(hold, rules);
    if (!end || end.at > now) return;
    kept.push(...waiting.map(({ life, at }) => ({ life, from: at, to: end.at })));
    waiting = [];
    hold = undefined;
    if (end.isCapped) countFrom = after(end.at, rules.breather);
  };
  for (const [time, events] of Map.groupBy(nodeEventsOf(lives), ({ at }) => at.getTime())) {
    const now = new Date(time);
    endHoldDueBy(now);
    const isKept = hold && after(hold.startedAt, rules.begunBefore) <= now;
    const launched: NodeLife[] = [];
    for (const event of events) {
      const { life, is } = event;
      if (is === "end") {
        if (isKept) waiting.push(event);
        continue;
      }
      const spares = waiting.find((one) => one.life.nodePool === life.nodePool);
      waiting = waiting.filter((one) => one !== spares);
      if (spares) kept.push({ life: spares.life, from: spares.at, to: now, spared: life });
      else launched.push(life);
    }
    const launches = launched.map(({ instance, launchedAt, nodePool }) => ({
      instance,
      launchedAt,
      nodePool,
    }));
    hold = launchHoldAfter({ before: hold, launches, countFrom, rules, now });
  }
  endHoldDueBy(new Date(8.64e15));
  return kept;
}

/** By time; at the same time the end comes first, because it cannot be the end of that launch. */
function nodeEventsOf(lives: readonly NodeLife[]): NodeEvent[] {
  const all = lives.flatMap((life): NodeEvent[] => {
    const { launchedAt, endedAt, endedBy } = life;
    return [
      { at: launchedAt, life, is: "launch" },
      ...(endedAt && endedBy === "karpenter" ? [{ at: endedAt, life, is: "end" } as const] : []),
    ];
  });
  return all.sort((a, b) => a.at.getTime() - b.at.getTime() || a.is.localeCompare(b.is));
}
