import {
  type Bursts,
  idleTime,
  learnFromBurst,
  noBursts,
  sameBurst,
  stopWatchingBursts,
} from "../auto/bursts.ts";
import {
  decideStaircase,
  type HoldLength,
  halfOf,
  type Staircase,
  stepAt,
  type Terms,
} from "../auto/staircase.ts";
import { after, earlier, later, minutes } from "../duration.ts";
import type { Launch, NodeClaim } from "../ports.ts";
import { longestHold, type Rules } from "../rules.ts";
import type { Hold, ScopeRecord } from "./hold.ts";

const termsOf = (rules: Rules): Terms => ({ relaunchCost: rules.relaunchCost, cap: longestHold(rules) });

/** What a scope has learned: how long it pays to keep how many nodes. */
export const staircaseOf = ({ learned = noBursts }: ScopeRecord, rules: Rules): Staircase =>
  decideStaircase(learned, termsOf(rules));

/** With `hold=auto`, how long a hold of this scope lasts after a burst of so many nodes. */
export function lengthAfter(record: ScopeRecord, rules: Rules, nodes: number): HoldLength | undefined {
  if (!rules.auto) return undefined;
  const { length, action, because } = stepAt(staircaseOf(record, rules), halfOf(nodes));
  return { length, action, because };
}

/** New nodes are protected until they have joined, even by a short hold, but no longer than this. */
export const bootTime = minutes(5);

type Observed = Readonly<{ record: ScopeRecord; length?: HoldLength | undefined; heldUntil: Date }>;

/** Learns from the launches that were not seen before; and until when the latest one asks to be held. */
export function observeLaunches(
  record: ScopeRecord,
  rules: Rules,
  { latest, news }: Readonly<{ latest: Launch; news: readonly Launch[] }>,
): Observed {
  const at = latest.launchedAt;
  const { kept = 0, keptAt = new Date(0) } = heldBy(record) ?? {};
  const uncounted = news.filter(({ launchedAt }) => launchedAt > keptAt).length;
  const nodes = Math.max(news.length, kept + uncounted);
  const from = news.map(({ launchedAt }) => launchedAt).reduce(earlier, at);
  const seen = news.length > 0 ? learn(record, rules, { kind: "launch", nodes, from, at }) : record;
  const { hold } = seen;
  const learned = hold && heldBy(seen) ? { ...seen, hold: { ...hold, kept: nodes } } : seen;
  const length = lengthAfter(learned, rules, nodes);
  const held = after(at, length?.length ?? rules.hold);
  const isBooting = length !== undefined && news.length > 0;
  return { record: learned, length, heldUntil: isBooting ? later(held, after(at, bootTime)) : held };
}

/** Learns from pods that came to burst nodes or left them: uses within a minute are of one burst. */
export function observeUses(
  record: ScopeRecord,
  rules: Rules,
  uses: readonly Date[],
  lookedBefore: Date,
): ScopeRecord {
  const latestFirst = uses.toSorted((a, b) => b.getTime() - a.getTime());
  const [at] = latestFirst;
  if (!at) return record;
  const within = latestFirst.filter((use) => use >= after(at, -minutes(1)));
  // What is older was a burst of its own.
  const seen = observeUses(record, rules, latestFirst.slice(within.length), lookedBefore);
  const nodes = within.length;
  const last = seen.learned?.idle.find((levels) => levels.nodes >= nodes)?.since;
  if (last && last >= at) return seen;
  const from = within.at(-1) ?? at;
  return learn(seen, rules, { kind: "pods", nodes, from, at, notBefore: earlier(lookedBefore, from) });
}

type Burst = Parameters<typeof learnFromBurst>[1];

/** Learns from a burst; and counts what it was worth for a hold that is on that the nodes were still there. */
function learn(record: ScopeRecord, rules: Rules, burst: Burst): ScopeRecord {
  const { learned: before = noBursts, hold } = record;
  const next = { ...record, learned: learnFromBurst(before, burst, termsOf(rules)) };
  const held = heldBy(record);
  if (!hold || !held) return next;
  const returned = { upTo: Math.min(burst.nodes, held.kept ?? 0), until: burst.from, needed: burst.at };
  return { ...next, hold: withIdle(held, before, returned) };
}

/** Ends the gaps of a scope whose hold is cut short: what comes next does not show how long they were. */
export const unwatched = (record: ScopeRecord, now: Date): ScopeRecord =>
  record.learned ? { ...record, learned: stopWatchingBursts(record.learned, now) } : record;

/** Counts the idle time of the nodes that a hold kept until its end. */
export const settled = (hold: Hold, { learned }: ScopeRecord, now: Date): Hold =>
  learned ? withIdle(hold, learned, { upTo: hold.kept ?? 0, until: now }) : hold;

function withIdle(
  hold: Hold,
  learned: Bursts,
  levels: Readonly<{ upTo: number; until: Date; needed?: Date }>,
): Hold {
  const { time, returned } = idleTime(learned, { ...levels, from: hold.startedAt });
  if (time === 0) return hold;
  return { ...hold, idleTime: (hold.idleTime ?? 0) + time, spared: (hold.spared ?? 0) + returned };
}

const heldBy = ({ hold }: ScopeRecord): Hold | undefined => (hold?.state === "held" ? hold : undefined);

/**
 * When the wait for the last unused node ends; undefined when all nodes were used. The pods that it was launched for come
 * soon after it has joined; a node that they found no need for must not keep all others.
 */
export function endOfBoot(claims: readonly NodeClaim[]): Date | undefined {
  const endOf = ({ createdAt, joinedAt }: NodeClaim) => {
    const latest = after(createdAt, bootTime);
    return joinedAt ? earlier(latest, after(joinedAt, sameBurst)) : latest;
  };
  const ends = claims.filter(({ lastPodEventAt }) => !lastPodEventAt).map(endOf);
  return ends.length > 0 ? ends.reduce(later) : undefined;
}

/** Leaves out replacements: they run pods of other nodes, which is no use of this hold's nodes. */
export function ofDemand(claims: readonly NodeClaim[], { replacements }: ScopeRecord): readonly NodeClaim[] {
  const replacing = new Set(replacements?.map(({ instance }) => instance));
  return claims.filter(({ instance }) => !(instance && replacing.has(instance)));
}
