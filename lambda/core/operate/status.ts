import { endOf } from "../launches.ts";
import { isHoldId } from "../marks/hold-id.ts";
import { holdLabel, markValue } from "../marks/keys.ts";
import type { Observed } from "../observed.ts";
import type { AutoFigures, Verdict } from "../pays.ts";
import { type Plan, planScope } from "../plan.ts";
import { awaitedSince, driftedNodes, holdable, nodesWithJobs, type ScopeView } from "../plan-nodes.ts";
import type { PassContext, SeenNode } from "../ports.ts";
import { type Silence, silenceOf } from "../quiet.ts";
import { type Figures, type Hold, noFigures, type Request, type ScopeRecord } from "../record.ts";
import { isOn } from "../requests.ts";
import { isOfRules, type Rules, whyLeftOut } from "../rules.ts";
import { type Scope, wholeCluster } from "../scope.ts";
import { withoutOwner } from "../sweep.ts";
import { accountOf, partOf, readView, rulesFor, withPossibleAccount } from "../view.ts";

/** A request that is not over, as an operator wants to see it: it holds, or waits for the end of a pause. */
export type RequestStatus = Omit<Request, "at" | "releasedAt"> & Readonly<{ since: Date }>;

/** One scope as an operator wants to see it. */
export type ScopeStatus = Readonly<{
  scope: Scope;
  state: "none" | "held" | "releasing" | "paused" | "breather";
  because: string;
  holdId?: string;
  since?: Date;
  until?: Date;
  /** Until when launches hold, where they do; requests may hold for longer. */
  launchesUntil?: Date;
  requests: readonly RequestStatus[];
  launches: number;
  extensions: number;
  capped: boolean;
  nodesHeld: number;
  /** The first of them by name. */
  nodes: readonly string[];
  /** With `mode=observe`, the nodes that would be held. */
  nodesObserved?: number;
  /** With `mode=observe`, what became of those since the hold would have started. */
  observed?: Observed;
  /** Nodes that launches do not hold, because they are drifted. */
  drifted: number;
  /** With `hold=auto`, the nodes that no longer pay, the next to go first, and why. */
  goes?: readonly Verdict[];
  /** With `hold=auto`, what this hold has cost and spared by now. */
  paid?: AutoFigures;
  /** An instance was launched whose node has not joined, as far as NodeClaims show it. */
  isAwaiting: boolean;
  nextLook?: Date;
}>;

export type Status = Readonly<{
  cluster: string;
  at: Date;
  rules: Rules;
  scopes: readonly ScopeStatus[];
  nodesUserHeld: number;
  /** Nodes with the mark of a hold that no record names; the next sweep removes it. */
  nodesOrphaned?: number;
  lastSweep?: Date;
  /** What the holder cannot read in the cluster, and what that means. */
  limits: readonly string[];
}>;

/** Shows what is held, until when and why; reads only. */
export async function getStatus(context: PassContext): Promise<Status> {
  const { clock, holds, journal, nodes } = context;
  const [view, marked, lastSweep] = await Promise.all([
    readView(context, wholeCluster, true),
    nodes.listMarked(context),
    journal.lastSweep(),
  ]);
  if ("error" in view) throw view.error;
  const rules = rulesFor(context.rules, view);
  // Read after the nodes: a hold is recorded before its first mark.
  const { records } = await holds.all();
  const now = clock.now();
  const whole = records.find(({ scope }) => scope === wholeCluster);
  const isShown = ({ scope, hold, quiet }: ScopeRecord) =>
    isOfRules(rules, scope) || hold || (quiet && quiet.until > now);
  const shown = records
    .map((record) => withPossibleAccount(withEffectiveQuiet(record, rules), now))
    .filter(isShown);
  const factsOf = (record: ScopeRecord): Facts => ({
    ...{ whole, view, marked, now },
    rules: rulesFor(context.rules, view, record),
  });
  const orphaned = withoutOwner(marked, records).length;
  return {
    cluster: rules.cluster,
    at: now,
    rules,
    scopes: shown.map((record) => describe(record, factsOf(record))),
    nodesUserHeld: view.nodes.filter((node) => isUserHeld(node, rules)).length,
    ...(orphaned > 0 && { nodesOrphaned: orphaned }),
    ...(lastSweep && { lastSweep }),
    limits: unreadable(view),
  };
}

/** Of the scopes that the settings leave out, only a pause of the whole cluster has an effect. */
function withEffectiveQuiet(record: ScopeRecord, rules: Rules): ScopeRecord {
  const { quiet, ...rest } = record;
  const isPauseOfAll = record.scope === wholeCluster && quiet?.kind === "paused";
  return isPauseOfAll || whyLeftOut(rules, record.scope) === undefined ? record : rest;
}

const unreadable = ({ claims, pods }: ScopeView): readonly string[] =>
  [claims, pods].flatMap((read) => {
    if (read === "not read") return "pods could not be read";
    return read && "unavailable" in read ? read.unavailable : [];
  });

const isUserHeld = ({ labels, annotations }: SeenNode, { holdAnnotation }: Rules): boolean =>
  !isHoldId(labels?.[holdLabel]) && annotations?.[holdAnnotation] === markValue;

/** The limit of node names, so that the answer stays small. */
const mostNames = 50;

type Facts = Readonly<{
  whole: ScopeRecord | undefined;
  view: ScopeView;
  marked: readonly SeenNode[];
  rules: Rules;
  now: Date;
}>;

function describe(record: ScopeRecord, { whole, view: all, marked, rules, now }: Facts): ScopeStatus {
  const { scope, looks } = record;
  const own = marked.filter(({ labels }) => record.hold && labels?.[holdLabel] === record.hold.id);
  const names = own
    .filter(({ annotations }) => annotations?.[rules.holdAnnotation] === markValue)
    .map(({ name }) => name);
  const view = partOf(all, scope);
  // What a pass would find now: a hold that is over is not reported as held, though its one-shot is still to come.
  const beside = scope === wholeCluster ? undefined : whole;
  const withJobs = nodesWithJobs(view, record.hold, rules, now);
  const nodes = { holdable: [], present: new Set<string>(), withJobs };
  const plan = planScope({
    ...{ record, whole: beside, launches: [], rules, now, newId: "" },
    ...(rules.auto && { nodes }),
  });
  const { verdicts = [] } = plan.isRequested ? {} : accountOf(view, record, rules, now);
  const { launchHold } = plan.record;
  const isHeld = record.hold !== undefined && !record.hold.ended && plan.until !== undefined;
  const isLeftOut = whyLeftOut(rules, scope) !== undefined;
  const requests = plan.record.requests.filter((one) => !isLeftOut && isOn(one, now));
  // Over, and no node has its mark any more: the next pass only moves it to the history.
  const isGone = !isHeld && own.length === 0;
  const { hold, figures } = isGone ? { hold: undefined, figures: noFigures } : record;
  const counts = Object.values(figures.launches).reduce((a, b) => a + b, 0);
  return {
    scope,
    ...stateOf({ hold, figures }, plan, silenceOf(record, beside, now)),
    ...(hold && { holdId: hold.id, since: hold.startedAt }),
    ...(isHeld && { until: plan.until }),
    ...(launchHold && isHeld && { launchesUntil: endOf(launchHold, rules).at }),
    requests: requests.map(({ at: since, ...request }) => ({ ...request, since })),
    launches: counts,
    extensions: figures.extensions,
    capped: figures.capped,
    nodesHeld: names.length,
    nodes: names.toSorted().slice(0, mostNames),
    ...(rules.mode === "observe" && { nodesObserved: isHeld ? holdable(view, rules, now).length : 0 }),
    ...(rules.mode === "observe" && hold && figures.observed && { observed: figures.observed }),
    drifted: isHeld && !plan.isRequested ? driftedNodes(view, rules, now).size : 0,
    ...(isHeld && rules.auto && { goes: verdicts, ...(rules.mode === "hold" && { paid: paidBy(figures) }) }),
    isAwaiting:
      isHeld && !("unavailable" in view.claims) && awaitedSince(view, record.seen, now) !== undefined,
    ...(looks.oneShot && hold && { nextLook: looks.oneShot }),
  };
}

const paidBy = ({ superfluous, letGo, spared, evictionsSpared }: Figures): AutoFigures => ({
  ...{ superfluous, letGo, spared, evictionsSpared },
});

type Shown = Pick<ScopeRecord, "figures"> & Readonly<{ hold: Hold | undefined }>;
type State = Pick<ScopeStatus, "state" | "because" | "since" | "until">;

function stateOf({ hold, figures }: Shown, plan: Plan, { quiet }: Silence): State {
  const { until: next } = plan;
  if (hold && !hold.ended && next) {
    const isEnding = plan.record.launchHold?.isEnding && !plan.isRequested;
    const because = describeHeld(hold.because, figures);
    return {
      state: "held",
      because: isEnding ? `over, but nodes that run Jobs stay held; ${because}` : because,
    };
  }
  const because = next ? `the next sweep holds: ${plan.because}` : plan.because;
  if (hold) return { state: "releasing", because };
  if (!quiet) return { state: "none", because };
  const { kind: state, since, until, because: reason } = quiet;
  return { state, because: state === "paused" ? `paused by hand: ${reason}` : reason, since, until };
}

/** Launches and requests that were part of a hold, in one line. */
export function describeHeld(
  because: string,
  { launches, requests }: Pick<Figures, "launches" | "requests">,
) {
  const pools = Object.entries(launches);
  const total = pools.reduce((sum, [, count]) => sum + count, 0);
  const inPools =
    pools.length === 1
      ? `in NodePool ${pools[0]?.[0]}`
      : `in NodePools ${pools.map(([pool, count]) => `${pool} (${count})`).join(", ")}`;
  const ofLaunches = total > 0 ? [`${total} ${total === 1 ? "launch" : "launches"} ${inPools}`] : [];
  const parts = [...ofLaunches, ...requests];
  return parts.length > 0 ? parts.join("; ") : because;
}
