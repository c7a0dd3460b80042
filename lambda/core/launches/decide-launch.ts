import { earlier, formatDuration, later } from "../duration.ts";
import { withLaunches } from "../holds/causes.ts";
import {
  extended,
  type Hold,
  isUnjoined,
  type PastHold,
  type ScopeRecord,
  startHold,
  widened,
} from "../holds/hold.ts";
import { observeLaunches } from "../holds/learning.ts";
import { type Watermark, whyNoneCounts } from "../holds/watermark.ts";
import type { Launch } from "../ports.ts";
import type { Rules } from "../rules.ts";
import { rememberedReplacements, wasRecognised } from "./find-demand.ts";

/** What to do for the launches of one scope, and why. `record` is what to write; without it nothing changes. */
export type LaunchDecision =
  | Readonly<{ action: "ignore"; because: string; record?: ScopeRecord }>
  | Readonly<{
      action: "start" | "extend" | "cap" | "await";
      because: string;
      hold: Hold;
      /** Looks had let nodes go, which are to be protected again. */
      widens?: boolean;
      record?: ScopeRecord;
      past?: PastHold;
    }>;

export type LaunchFacts = Readonly<{
  record: ScopeRecord;
  watermark: Watermark;
  launches: readonly Launch[];
  rules: Rules;
  now: Date;
  newId: string;
}>;

/** Time comes from the launches and only moves forward: duplicates, late and reordered ones change nothing. */
export function decideLaunch(facts: LaunchFacts): LaunchDecision {
  const { record, watermark, rules, now } = facts;
  // Another function may have recognised a replacement since this one read the events.
  const replacements = rememberedReplacements(record, rules);
  const demand = facts.launches.filter(({ instance }) => !replacements.has(instance));
  if (demand.length === 0) return { action: "ignore", because: wasRecognised };
  const launches = demand.filter((launch) => launch.launchedAt >= watermark.from);
  const latest = launches.reduce<Launch | undefined>(
    (a, b) => (a && a.launchedAt >= b.launchedAt ? a : b),
    undefined,
  );
  if (!latest) return { action: "ignore", because: whyNoneCounts(watermark, now) };

  const { lastLaunchAt } = record;
  const news = launches.filter((launch) => !lastLaunchAt || launch.launchedAt > lastLaunchAt);
  const observed = observeLaunches(record, rules, { latest, news });
  const { hold } = observed.record;
  if (hold?.state === "held") return decideExtension({ ...observed, hold, rules, latest, news });

  const { length, heldUntil: expiresAt } = observed;
  const seen = { ...observed.record, lastLaunchAt: latest.launchedAt };
  if (expiresAt <= now) {
    const because = "its hold would already be over";
    return { action: "ignore", because, ...(observed.record !== record && { record: seen }) };
  }
  if (news.length === 0) return { action: "ignore", because: "the hold for this launch has already ended" };

  const begun = {
    id: facts.newId,
    startedBecause: `a node was launched in NodePool ${latest.nodePool}`,
    causes: withLaunches({}, news),
    expiresAt,
    causedAt: latest.launchedAt,
    launches: news.length,
    burstFrom: firstOf(news),
    kept: news.length,
    ...(length && { length }),
    unprotected: true,
  };
  return startHold(seen, begun, now);
}

type ExtensionFacts = ReturnType<typeof observeLaunches> &
  Readonly<{ hold: Hold; rules: Rules; latest: Launch; news: readonly Launch[] }>;

function decideExtension(facts: ExtensionFacts): LaunchDecision {
  const { record, length, heldUntil, hold, rules, latest, news } = facts;
  const isWaiting = isUnjoined(hold);
  const { expiresAt, capped } = isWaiting ? hold : extended(hold, heldUntil, rules);
  const moves = expiresAt > hold.expiresAt;
  const because = isWaiting ? "none of the hold's nodes has joined yet" : "the hold already lasts as long";
  const isNoted = !isWaiting || heldUntil <= later(hold.expiresAt, hold.askedUntil ?? hold.expiresAt);
  if (!moves && isNoted && news.length === 0) return { action: "await", hold, because };

  const widens = news.length > 0 && hold.marksFrom !== undefined;
  const next: Hold = {
    ...(news.length > 0 ? widened(hold) : hold),
    expiresAt,
    capped,
    causedAt: later(hold.causedAt, latest.launchedAt),
    launches: hold.launches + news.length,
    ...(news.length > 0 && {
      causes: withLaunches(hold.causes, news),
      burstFrom: earlier(hold.burstFrom ?? latest.launchedAt, firstOf(news)),
    }),
    ...(isWaiting && { askedUntil: later(hold.askedUntil ?? heldUntil, heldUntil) }),
    // With a new relaunchCost, a launch that was counted before may hold for longer.
    ...(length && { length }),
    extensions: hold.extensions + (moves ? 1 : 0),
  };
  const written = { ...record, hold: next, ...(news.length > 0 && { lastLaunchAt: latest.launchedAt }) };
  if (capped && !hold.capped) {
    const because = `holds last ${formatDuration(rules.maxHold)} at most`;
    return { action: "cap", hold: next, widens, record: written, because };
  }
  const action = moves ? "extend" : "await";
  const why = moves ? "a later launch extends the hold" : because;
  return { action, hold: next, widens, record: written, because: why };
}

const firstOf = (launches: readonly Launch[]): Date =>
  launches.map(({ launchedAt }) => launchedAt).reduce(earlier);
