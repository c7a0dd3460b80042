import type { Use } from "../../lambda/core/auto/learned.ts";
import { after, type Duration, earlier, later } from "../../lambda/core/duration.ts";
import type { NodeLife } from "./lives.ts";
import { ReplayedLength } from "./replayed-length.ts";

/** How a holder would have held. */
export type Plan = Readonly<{
  hold: Duration;
  /** With it, the length is learned as with `hold=auto`, and `hold` does not count. */
  relaunchCost?: Duration;
  /** 0 means no cap. */
  maxHold: Duration;
  breather: Duration;
  scope: "cluster" | "nodepool";
  /** A node taken away, and like capacity launched again within this time: regretted. */
  regretWithin: Duration;
  /** What Karpenter had begun before a hold began goes on: its command is not stopped for so long. */
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

/** What a replay came to. */
export type Replay = Readonly<{
  plan: Plan;
  launches: number;
  terminations: number;
  regretted: number;
  avoided: number;
  kept: readonly Kept[];
  idle: Duration;
}>;

type TimelineEvent = Readonly<{ at: Date; life: NodeLife; is: "launch" | "end" }>;

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
    // The oldest that still counts: no other choice makes more pairs.
    while (open[0] && after(open[0].at, within) < at) open.shift();
    const ended = open.shift();
    if (ended) pairs.set(ended.life, life);
  }
  return pairs;
}

/** Plays history again with a holder: nodes kept through a hold, launches they would have spared, time they would have idled. */
export function replay(lives: readonly NodeLife[], plan: Plan): Replay {
  const scopes = new Map<string, ScopeReplay>();
  for (const event of nodeEventsOf(lives)) {
    const name = plan.scope === "cluster" ? "" : event.life.nodePool;
    const scope = scopes.get(name) ?? new ScopeReplay(plan);
    scopes.set(name, scope);
    if (event.is === "launch") scope.launch(event);
    else scope.end(event);
  }
  for (const scope of scopes.values()) scope.close();
  const kept = [...scopes.values()].flatMap((scope) => scope.kept);
  const within = ({ life, to, spared }: Kept) =>
    spared !== undefined && life.endedAt !== undefined && to <= after(life.endedAt, plan.regretWithin);
  return {
    plan,
    launches: lives.length,
    terminations: lives.filter(({ endedBy }) => endedBy === "karpenter").length,
    regretted: regrettedEnds(lives, plan.regretWithin).size,
    avoided: kept.filter(within).length,
    kept,
    idle: kept.reduce((sum, { from, to }) => sum + to.getTime() - from.getTime(), 0),
  };
}

/** One scope's holds, and the nodes they keep at present. */
class ScopeReplay {
  readonly kept: Kept[] = [];
  readonly #plan: Plan;
  #waiting: TimelineEvent[] = [];
  #startedAt: Date | undefined;
  #expiresAt = new Date(0);
  #launchesCountFrom = new Date(0);
  #length: ReplayedLength;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#length = new ReplayedLength(plan);
  }

  launch({ at, life }: TimelineEvent): void {
    this.#expire(at);
    const i = this.#waiting.findIndex((kept) => kept.life.nodePool === life.nodePool);
    const [spared] = i >= 0 ? this.#waiting.splice(i, 1) : [];
    if (spared) this.kept.push({ life: spared.life, from: spared.at, to: at, spared: life });
    // A launch that is spared uses nodes that are held, which extends the hold as well.
    this.#extend(at, spared ? "pods" : "launch");
  }

  end(event: TimelineEvent): void {
    this.#expire(event.at);
    const { begunBefore } = this.#plan;
    const isHeld = this.#startedAt && after(this.#startedAt, begunBefore) <= event.at;
    if (isHeld && event.at < this.#expiresAt) this.#waiting.push(event);
  }

  close(): void {
    this.#expire(new Date(8.64e15));
  }

  /** What a hold kept goes when it ends; a capped one is followed by a breather. */
  #expire(now: Date): void {
    if (!this.#startedAt || now < this.#expiresAt) return;
    for (const { life, at } of this.#waiting) this.kept.push({ life, from: at, to: this.#expiresAt });
    this.#waiting = [];
    const { maxHold, breather } = this.#plan;
    if (maxHold > 0 && this.#expiresAt >= after(this.#startedAt, maxHold)) {
      this.#launchesCountFrom = after(this.#expiresAt, breather);
      this.#length.stop(this.#expiresAt);
    }
    this.#startedAt = undefined;
  }

  #extend(at: Date, kind: Use["kind"]): void {
    const { maxHold } = this.#plan;
    if (at < this.#launchesCountFrom) return;
    const hold = this.#length.after({ at, kind, held: this.#startedAt !== undefined });
    if (hold === 0) return;
    this.#startedAt ??= at;
    const asked = later(this.#expiresAt, after(at, hold));
    this.#expiresAt = maxHold > 0 ? earlier(asked, after(this.#startedAt, maxHold)) : asked;
  }
}

/** In the order of time; of what happened at once, the end first: it cannot be the end of that launch. */
function nodeEventsOf(lives: readonly NodeLife[]): TimelineEvent[] {
  const all = lives.flatMap((life): TimelineEvent[] => [
    { at: life.launchedAt, life, is: "launch" },
    ...(life.endedAt && life.endedBy === "karpenter" ? [{ at: life.endedAt, life, is: "end" } as const] : []),
  ]);
  return all.sort((a, b) => a.at.getTime() - b.at.getTime() || a.is.localeCompare(b.is));
}
