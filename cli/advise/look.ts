import { after, type Duration } from "../../lambda/core/duration.ts";
import { messageOf } from "../../lambda/core/errors.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import { type AwsFlags, onSameCluster } from "../terminal/cluster-flags.ts";
import type { Output } from "../terminal/flags.ts";
import { Progress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { readable } from "../terminal/text.ts";
import { advise, type Place } from "./advice.ts";
import { allowedIn, mayConsolidate, midnightBefore, stretchesOf, weekLength } from "./allowed.ts";
import { accountsOf, fromLog, presentNodes } from "./happened.ts";
import type { Account, History } from "./history.ts";
import { readKarpenterLog } from "./karpenter-log.ts";
import { lint } from "./lint.ts";
import { isStatic, type NodePool } from "./objects.ts";
import { describeMissingPrices, readPrices } from "./prices.ts";
import {
  limitsOf,
  type PoolWeek,
  printAllowed,
  printFindings,
  printHappened,
  printRanking,
  printSources,
  wrapped,
} from "./print.ts";
import { type Question, type Ranking, rank } from "./rank.ts";
import { type ClusterFacts, isMissing, orNone, outside, readCluster } from "./read.ts";
import { describeLog, readLogs, sourcesOf, unreadIn } from "./sources.ts";

export type AdviseFlags = AwsFlags &
  Readonly<{
    kubeconfig?: string;
    context?: string;
    log?: readonly string[];
    cluster?: string;
    since: Duration;
    from?: readonly string[];
    timeZone: string;
    holds: readonly Duration[];
    relaunchCost: Duration;
    evictionCost: Duration;
    prices?: string;
    price?: number;
    output: Output;
  }>;

/** The name and version of the answer for programs: fields may be added, none is renamed or removed. */
export const schema = "karpenter-node-holder/advise/v1";

export type Answer = Readonly<{ print: () => readonly string[]; json: unknown; findings: number }>;

/** Reads every source that the flags name, and draws all conclusions. */
export async function look(flags: AdviseFlags, terminal: Terminal): Promise<Answer> {
  const { timeZone } = flags;
  const priceOf = readPrices(flags.prices, flags.price);
  const saved = flags.log && readLogs(flags.log);
  const { cluster } = flags;
  const isOffline = (saved !== undefined || cluster !== undefined) && !flags.kubeconfig && !flags.context;
  const { openCloudTrail } = await import("./cloudtrail.ts");
  const readTrail = cluster === undefined ? undefined : await openCloudTrail({ ...flags, cluster }, terminal);
  const found = isOffline ? undefined : await lookAtCluster(flags, terminal);
  const read = await readTrail?.().catch((error: unknown) => {
    if (!found) throw error;
    return { missing: readable(messageOf(error)) };
  });
  const trail = isMissing(read) ? undefined : read;

  const facts = found?.facts;
  const live = facts && !isMissing(facts.log) ? readKarpenterLog(facts.log.text, facts.readAt) : undefined;
  const history = longest(saved, live);
  const accounts = [
    ...(facts ? accountsOf(facts, history) : history ? [fromLog(history)] : []),
    ...(trail ? [trail] : []),
  ];
  const pools = orNone(facts?.nodePools);
  const readAt = facts?.readAt ?? new Date();
  const week = midnightBefore(readAt, timeZone);
  const length = weekLength(week, timeZone);
  const weeks = pools.map((pool) => ({
    name: pool.metadata.name,
    about: aboutPool(pool),
    allowed: allowedIn(pool, week, length),
  }));
  const typed = (command: string) => onSameCluster(command, flags);
  const findings = (facts ? lint(facts, { week, timeZone }) : []).map(({ change, ...rest }) => ({
    ...rest,
    change: typed(change),
  }));
  const unread = facts ? unreadIn(facts) : [];
  const { removals = [] } = history ?? {};
  const unpriced = describeMissingPrices(removals, priceOf);
  const { relaunchCost, evictionCost, holds } = flags;
  const inMoney = priceOf && unpriced.length === 0 ? { priceOf } : {};
  const question: Question = { relaunchCost, evictionCost, holds, nodePools: pools, ...inMoney };
  const ranking: Ranking = history
    ? rank(history, question)
    : { because: whyNoHistory(facts, trail), candidates: [], replayed: 0, unchanged: 0 };
  const place: Place = {
    cluster: cluster ?? found?.cluster ?? "CLUSTER",
    flags: Object.entries({ kubeconfig: flags.kubeconfig, context: flags.context }).flatMap(
      ([name, value]) => (value === undefined ? [] : [`--${name}`, value]),
    ),
    isAws:
      facts === undefined || orNone(facts.nodes).some(({ spec }) => spec.providerID.startsWith("aws://")),
  };
  const isClosed = weeks.length > 0 && weeks.every(({ allowed }) => !mayConsolidate(allowed));
  const { commands, ...advised } = advise({ ranking, accounts, pools, isClosed, place, readAt });
  const advice = { ...advised, commands: commands.map(typed) };
  const sources = [
    ...(facts ? sourcesOf(facts, live) : []),
    ...(saved ? [{ name: "log files", read: describeLog(saved) }] : []),
    ...(isMissing(read) ? [{ name: "CloudTrail", read: `no: ${read.missing}` }] : []),
  ];
  const present = facts && presentNodes(facts);
  const notes = [...unpriced, ...notesOn(facts, history)];
  const print = () => [
    ...(sources.length > 0 ? printSources(sources, terminal) : []),
    ...printHappened(accounts, present, timeZone, terminal),
    ...(facts ? printAllowed(isMissing(facts.nodePools) ? undefined : weeks, week, timeZone, terminal) : []),
    ...(facts ? printFindings(findings, unread, terminal) : []),
    ...printRanking(ranking, advice, question, terminal),
    ...notes.flatMap((note) => wrapped(note, "  ")),
  ];
  const json = {
    schema,
    ...{ cluster: place.cluster, readAt, timeZone, sources },
    ...(present && { present }),
    happened: accounts,
    allowed: weeks.map((one) => weekJson(one, week)),
    findings,
    unread,
    ranking: {
      ...ranking,
      candidates: ranking.candidates.map(({ applies: _, ...rest }) => rest),
      limits: limitsOf(question, ranking),
    },
    advice,
    notes,
  };
  return { print, json, findings: findings.length };
}

/** In megabytes: the kubelet keeps about this much of a log, which takes longer than the nine parts together. */
const usualLog = 10;

async function lookAtCluster(flags: AdviseFlags, terminal: Terminal) {
  const { findCluster } = await import("../../local/run/find-cluster.ts");
  const { clusterNameIn } = await import("../../local/run/kubeconfig.ts");
  const config = findCluster({ path: flags.kubeconfig, context: flags.context, env: terminal.env });
  const progress = new Progress(1, terminal);
  const task = progress.begin("reading the cluster");
  let [read, megabytes] = [0, 0];
  try {
    const facts = await readCluster(config, (what, piece) => {
      if (piece === undefined) read += 1;
      else megabytes += piece / 1_000_000;
      const now = piece === undefined ? `${what} read` : `${megabytes.toFixed(1)} MB of log and metrics`;
      task.advance((read + Math.min(megabytes, usualLog)) / (9 + usualLog), now);
    });
    return { facts, cluster: clusterNameIn(config) };
  } finally {
    progress.stop();
  }
}

/** Two logs of different lengths overlap; the one that reaches back further has more in it. */
const longest = (a: History | undefined, b: History | undefined): History | undefined =>
  a && b ? (a.from <= b.from ? a : b) : (a ?? b);

const whyNoHistory = (facts: ClusterFacts | undefined, trail: Account | undefined): string => {
  if (facts && isMissing(facts.log) && facts.log.missing === outside)
    return `${outside}, and only its log has the pods of each removed node; "run --observe" shows what would be held`;
  const wanted =
    "only Karpenter's log has the pods of each removed node (give the right to get pods/log, or --log FILE)";
  const log = facts && isMissing(facts.log) ? ` (here: ${facts.log.missing})` : "";
  return `${trail && !facts ? "CloudTrail has neither pods nor reasons; " : ""}${wanted}${log}`;
};

function aboutPool(pool: NodePool): string {
  const { disruption, replicas, template } = pool.spec;
  const { consolidationPolicy, consolidateAfter } = disruption;
  const how = isStatic(pool)
    ? `replicas ${replicas}`
    : `${consolidationPolicy}, consolidateAfter ${consolidateAfter}`;
  return `${how}, expireAfter ${template.spec.expireAfter}`;
}

function notesOn(facts: ClusterFacts | undefined, history: History | undefined): readonly string[] {
  const held = orNone(facts?.nodes).filter(({ metadata }) => metadata.labels[holdLabel] !== undefined);
  const untried = history && whyNoPools(facts);
  return [
    ...(held.length > 0
      ? [`The holder is at work here (nodes with its label: ${held.length}), so the history is one with it.`]
      : []),
    ...(untried ? [`Karpenter's own settings were not tried, because ${untried}.`] : []),
  ];
}

function whyNoPools(facts: ClusterFacts | undefined): string | undefined {
  if (!facts) return "no NodePool was read: add --kubeconfig or --context";
  if (isMissing(facts.nodePools)) return `no NodePool could be read: ${facts.nodePools.missing}`;
  return facts.nodePools.length === 0 ? "there is no NodePool" : undefined;
}

const weekJson = ({ name, allowed }: PoolWeek, from: Date) => ({
  nodePool: name,
  reasons: allowed.map(({ reason, never, open, limits }) => ({
    reason,
    ...(never && { never }),
    limits,
    open: stretchesOf(open).map((one) => ({
      from: after(from, one.from * 60_000),
      until: after(from, one.to * 60_000),
    })),
  })),
});
