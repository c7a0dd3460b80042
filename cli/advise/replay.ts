import type { Staircase } from "../../lambda/core/auto/staircase.ts";
import { after, type Duration, minutes } from "../../lambda/core/duration.ts";
import { decideClose } from "../../lambda/core/holds/end-hold.ts";
import {
  dueAt,
  emptyRecord,
  type Hold,
  joinedHold,
  lookEvery,
  type ScopeRecord,
} from "../../lambda/core/holds/hold.ts";
import { staircaseOf } from "../../lambda/core/holds/learning.ts";
import { watermarkOf } from "../../lambda/core/holds/watermark.ts";
import { decideLaunch } from "../../lambda/core/launches/decide-launch.ts";
import { decideUse } from "../../lambda/core/releases/decide-use.ts";
import { decideRelease } from "../../lambda/core/releases/release.ts";
import { type Rules, scopeOf } from "../../lambda/core/rules.ts";
import type { Scope } from "../../lambda/core/scope.ts";
import type { NodeLife } from "./lives.ts";

/** The settings of the replayed holder. */
export type Plan = Pick<Rules, "hold" | "auto" | "relaunchCost" | "maxHold" | "breather" | "scope"> &
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
  /** What its scope had learned by the end; missing where there are several scopes. */
  staircase?: Staircase;
}>;

type TimelineEvent = Readonly<{ at: Date; life: NodeLife; is: "launch" | "end" | "use" }>;

/** Ends that Karpenter chose, and that are followed by the launch of like capacity soon after, paired one to one. */
export function regrettedEnds(lives: readonly NodeLife[], within: Duration): ReadonlyMap<NodeLife, NodeLife> {
  const pairs = new Map<NodeLife, NodeLife>();
  const waiting = new Map<string, TimelineEvent[]>();
  for (const event of nodeEventsOf(lives)) {
    const { at, life, is } = event;
    const open = waiting.get(life.nodePool) ?? [];
    waiting.set(life.nodePool, open);
    if (is === "end") {
      open.push(event);
      continue;
    }
    if (is === "use") continue;
    // The oldest that still counts: no other choice makes more pairs.
    while (open[0] && after(open[0].at, within) < at) open.shift();
    const ended = open.shift();
    if (ended) pairs.set(ended.life, life);
  }
  return pairs;
}

/** Replays history with a holder: the nodes that holds would have kept, the launches that these would have spared, and their idle time. */
export function replay(lives: readonly NodeLife[], plan: Plan): Replay {
  const rules = { ...everyLaunch, ...plan };
  const scopes = Map.groupBy(lives, ({ nodePool }) => scopeOf(rules, nodePool));
  const played = [...scopes].map(([scope, ofScope]) => play(scope, ofScope, rules));
  const kept = played.flatMap((one) => one.kept);
  const [only] = played;
  return {
    kept,
    avoided: kept.filter(({ spared }) => spared).length,
    idle: kept.reduce((sum, { from, to }) => sum + to.getTime() - from.getTime(), 0),
    ...(only && played.length === 1 && { staircase: only.staircase }),
  };
}

/** CloudTrail names every launch at once, and does not say which of them replaced other nodes, nor which had drifted. */
const everyLaunch = {
  cluster: "",
  initialDelay: 0,
  nodePools: { only: [], except: [] },
  replacements: "hold",
  extendOn: "use",
  letGo: "nothing",
  driftWait: 0,
} as const;

/** Plays one scope's history: what its holds would have kept, and what they learned. */
function play(
  scope: Scope,
  lives: readonly NodeLife[],
  rules: Rules & Plan,
): Required<Pick<Replay, "kept" | "staircase">> {
  const kept: Kept[] = [];
  let record = emptyRecord(scope);
  let waiting: TimelineEvent[] = [];
  /** When the nodes that were launched for the hold were last used; undefined while they boot. */
  const uses = new Map<NodeLife, Date | undefined>();
  let lookedAt = new Date(0);
  const look = (now: Date) => {
    if (record.hold) record = afterUse(record, record.hold, { uses, rules, now });
    lookedAt = now;
  };
  const endHoldDueBy = (now: Date) => {
    for (let { hold } = record; hold && dueAt(hold, rules) <= now; { hold } = record) {
      const due = dueAt(hold, rules);
      if (lookedAt < due) {
        look(due);
        continue;
      }
      kept.push(...waiting.map(({ life, at }) => ({ life, from: at, to: lookedAt })));
      waiting = [];
      uses.clear();
      record = afterHold(record, hold, { rules, now: lookedAt });
    }
  };
  for (const [time, events] of Map.groupBy(nodeEventsOf(lives), ({ at }) => at.getTime())) {
    const now = new Date(time);
    endHoldDueBy(now);
    const { hold } = record;
    const isKept = hold && after(hold.startedAt, rules.begunBefore) <= now;
    const launched: NodeLife[] = [];
    for (const event of events) {
      const { life, is } = event;
      if (is === "end") {
        if (isKept) waiting.push(event);
        else uses.delete(life);
      }
      // Its pods have come or, shortly before it is removed, left.
      if (uses.has(life)) uses.set(life, is === "use" ? (uses.get(life) ?? now) : now);
      if (is !== "launch") continue;
      const spares = waiting.find((one) => one.life.nodePool === life.nodePool);
      waiting = waiting.filter((one) => one !== spares);
      if (spares) kept.push({ life: spares.life, from: spares.at, to: now, spared: life });
      else launched.push(life);
      // Instead of a launch that is spared, pods come to a node that is held.
      if (!spares || uses.delete(spares.life)) uses.set(life, spares && now);
    }
    record = afterLaunches(record, launched, rules, now);
    if (!record.hold) uses.clear();
    else if (after(lookedAt, lookEvery(rules)) <= now) look(now);
  }
  const staircase = staircaseOf(record, rules);
  endHoldDueBy(new Date(8.64e15));
  return { kept, staircase };
}

/** The nodes of CloudTrail's launches have joined. */
function afterLaunches(record: ScopeRecord, launches: readonly NodeLife[], rules: Rules, now: Date) {
  const facts = { watermark: watermarkOf(record), launches, rules, now, newId: "replayed" };
  const { record: written = record } = decideLaunch({ record, ...facts });
  return written.hold ? { ...written, hold: joinedHold(written.hold, rules) } : written;
}

type Used = Readonly<{ uses: ReadonlyMap<NodeLife, Date | undefined>; rules: Rules; now: Date }>;

function afterUse(record: ScopeRecord, { id }: Hold, { uses, rules, now }: Used): ScopeRecord {
  const claims = [...uses].map(([{ instance, launchedAt }, lastPodEventAt]) => ({
    ...{ name: instance, createdAt: launchedAt, joinedAt: launchedAt },
    ...(lastPodEventAt && { lastPodEventAt }),
  }));
  return decideUse({ record, holdId: id, claims, rules, now }).record ?? record;
}

/** Every mark comes off at once. */
function afterHold(
  record: ScopeRecord,
  hold: Hold,
  { rules, now }: Readonly<{ rules: Rules; now: Date }>,
): ScopeRecord {
  const watermark = watermarkOf(record);
  const { record: over = record } = decideRelease({ record, watermark, holdId: hold.id, rules, now });
  return decideClose(over, hold.id, now).record ?? over;
}

/** Pods run on a new node this long after its launch. */
const usedAfter = minutes(1);

/** By time; at the same time the end comes first, because it cannot be the end of that launch. */
function nodeEventsOf(lives: readonly NodeLife[]): TimelineEvent[] {
  const all = lives.flatMap((life): TimelineEvent[] => {
    const { launchedAt, endedAt, endedBy } = life;
    const usedAt = after(launchedAt, usedAfter);
    return [
      { at: launchedAt, life, is: "launch" },
      ...(!endedAt || usedAt < endedAt ? [{ at: usedAt, life, is: "use" } as const] : []),
      ...(endedAt && endedBy === "karpenter" ? [{ at: endedAt, life, is: "end" } as const] : []),
    ];
  });
  return all.sort((a, b) => a.at.getTime() - b.at.getTime() || a.is.localeCompare(b.is));
}
