import { sameBurst } from "../auto/bursts.ts";
import { after, later } from "../duration.ts";
import { isRequested } from "../holds/causes.ts";
import { dueAt, type Hold, joinsCountFrom } from "../holds/hold.ts";
import { bootTime } from "../holds/learning.ts";
import { isComplete, markNodes } from "../holds/mark-nodes.ts";
import { changeRecord, findRecord } from "../holds/records.ts";
import type { NodeClaim, ReleaseContext, Unavailable } from "../ports.ts";
import { reportLimit } from "../report-limit.ts";
import { letsDriftGo, type Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";
import { smallestBurst } from "./decide-use.ts";

/** Why a node is let go while its hold goes on. */
export type Reason = "small burst" | "empty" | "drifted";

type Facts = Readonly<{
  hold: Hold;
  /** All NodeClaims of the scope. */
  claims: readonly NodeClaim[];
  /** The nodes that carry the hold's mark. */
  marked: ReadonlySet<string>;
  /** The nodes among the quiet ones that have pods; undefined where these may not be read. */
  busy?: ReadonlySet<string> | undefined;
  rules: Rules;
  now: Date;
}>;

type LetGo = Readonly<{ letGo: ReadonlyMap<string, Reason>; markAgain: ReadonlySet<string> }>;

/** The NodeClaims of a scope. A use that came after they were read is the next look's. */
type Read = Readonly<{ claims: readonly NodeClaim[]; readAt: Date }>;

/** Lets single nodes of a hold go, and marks those again that are used again. */
export async function letNodesGo(
  context: ReleaseContext,
  scope: Scope,
  { claims, readAt: now }: Read,
): Promise<void> {
  const { rules, nodes, log } = context;
  const { hold } = await findRecord(context, scope);
  // All marks of a hold that is due come off together.
  if (hold?.state !== "held" || isRequested(hold.causes) || dueAt(hold, rules) <= now) return;
  if (!hold.marksFrom && !claims.some((claim) => mayGo(claim, { hold, rules, now }))) return;

  const marked = new Set((await nodes.markedNodes(context)).get(hold.id));
  const facts = { hold, claims, marked, rules, now };
  const busy = rules.letGo === "empty" ? await readBusy(context, facts) : undefined;
  const { letGo, markAgain } = decideLetGo({ ...facts, busy });
  if (letGo.size === 0 && markAgain.size === 0) return;
  if (markAgain.size > 0)
    log.info("used nodes are marked again", { scope, holdId: hold.id, nodes: sample(markAgain) });
  // First of all: once a look is noted, no pass marks nodes that joined before it, also those that no pass has seen yet.
  const pass = await markNodes(context, { scope, hold, also: markAgain });
  if (letGo.size > 0 && isComplete(pass)) await letGoOf(context, scope, { hold, letGo, now });
}

type Going = Readonly<{ hold: Hold; letGo: ReadonlyMap<string, Reason>; now: Date }>;

/** Notes the look, then takes the marks off, unless a launch or the end of the hold came in between. */
async function letGoOf(context: ReleaseContext, scope: Scope, { hold, letGo, now }: Going): Promise<void> {
  const { nodes, metrics, log } = context;
  const { isOurs } = await changeRecord(context, scope, (record) => {
    const { hold: present } = record;
    if (!isRunning(present, hold) || asksAgain(present, hold)) return { isOurs: false };
    const noted = { ...present, marksFrom: now, letGo: (present.letGo ?? 0) + letGo.size };
    return { isOurs: true, record: { ...record, hold: noted } };
  });
  if (!isOurs) return;
  const released = await nodes.letGo(hold.id, new Set(letGo.keys()), context);
  metrics.add("NodesLetGo", released.released);
  const because = Object.fromEntries(
    [...Map.groupBy(letGo, ([, reason]) => reason)].map(([reason, { length }]) => [reason, length]),
  );
  log.info("nodes let go", { scope, holdId: hold.id, because, ...released, nodes: sample(letGo.keys()) });
  // A launch that came meanwhile has marked all nodes, perhaps before their marks were taken off here.
  const { hold: present } = await findRecord(context, scope);
  if (!isRunning(present, hold) || (present.marksFrom && !asksAgain(present, hold))) return;
  await markNodes(context, { scope, hold: present, also: new Set(letGo.keys()) });
}

const isRunning = (present: Hold | undefined, { id }: Hold): present is Hold =>
  present?.id === id && present.state === "held";

/** Whether a launch or a request has asked for all nodes again. */
const asksAgain = (present: Hold, { launches }: Hold): boolean =>
  present.launches !== launches || isRequested(present.causes);

/** Which nodes a look lets go, each with its reason, and which it marks again. */
export function decideLetGo(facts: Facts): LetGo {
  const { hold, claims, marked, busy, rules, now } = facts;
  const isUsed = usedWithin(facts);
  const isNarrow = isNarrowed(hold, now);
  const drifted = drifting(facts);
  const reasonOf = (claim: NodeClaim): Reason | undefined => {
    if (isNarrow && !(isOfBurst(claim, hold) && isUsed(claim))) return "small burst";
    if (busy && !isUsed(claim) && !busy.has(claim.node ?? "")) return "empty";
    return drifted.has(claim) ? "drifted" : undefined;
  };
  const letGo = new Map<string, Reason>();
  const markAgain = new Set<string>();
  for (const claim of claims) {
    const reason = reasonOf(claim);
    if (!claim.node) continue;
    if (reason && marked.has(claim.node)) letGo.set(claim.node, reason);
    const wasUsed = hold.marksFrom && claim.lastPodEventAt && claim.lastPodEventAt > hold.marksFrom;
    if (wasUsed && !reason && !hasWaited(claim, rules, now) && !marked.has(claim.node))
      markAgain.add(claim.node);
  }
  return { letGo, markAgain };
}

/** Those whose drift has waited long enough, a tenth of the nodes a look, the ones that are quiet for longest first. */
function drifting({ claims, marked, rules, now }: Facts): ReadonlySet<NodeClaim> {
  const quietSince = (claim: NodeClaim) => (claim.lastPodEventAt ?? claim.joinedAt ?? now).getTime();
  const waiting = claims
    .filter((claim) => claim.node && marked.has(claim.node) && hasWaited(claim, rules, now))
    .toSorted((a, b) => quietSince(a) - quietSince(b));
  // With no wait at all, drifted nodes are not held.
  const most = rules.driftWait === 0 ? waiting.length : Math.ceil(marked.size / 10);
  return new Set(waiting.slice(0, most));
}

/** Whether a node may be let go at all, whatever marks and pods there are. */
function mayGo(claim: NodeClaim, facts: Pick<Facts, "hold" | "rules" | "now">): boolean {
  const { hold, rules, now } = facts;
  const isQuiet = rules.letGo === "empty" && !usedWithin(facts)(claim);
  return isNarrowed(hold, now) || isQuiet || hasWaited(claim, rules, now);
}

/** A burst may turn out to be large when its last nodes join. */
const isNarrowed = ({ narrowsAt, burstNodes = 0 }: Hold, now: Date): boolean =>
  narrowsAt !== undefined && narrowsAt <= now && burstNodes < smallestBurst;

const isOfBurst = ({ joinedAt }: NodeClaim, { burstFrom }: Hold): boolean =>
  joinedAt !== undefined && burstFrom !== undefined && joinedAt >= joinsCountFrom(burstFrom);

/** Whether a node was used, or joined, within the length of the hold. A learned one may be too short for a node that boots. */
function usedWithin({ hold, rules, now }: Pick<Facts, "hold" | "rules" | "now">) {
  const length = Math.max(sameBurst, hold.length?.length ?? rules.hold);
  const boot = Math.max(length, bootTime);
  return ({ lastPodEventAt, joinedAt = now }: NodeClaim) =>
    lastPodEventAt ? after(lastPodEventAt, length) > now : after(joinedAt, rules.auto ? boot : length) > now;
}

function hasWaited({ driftedAt, joinedAt }: NodeClaim, rules: Rules, now: Date): boolean {
  if (!driftedAt || !letsDriftGo(rules)) return false;
  return after(later(driftedAt, joinedAt ?? driftedAt), rules.driftWait) <= now;
}

/** Where pods may not be read, no node counts as empty. */
async function readBusy(context: ReleaseContext, facts: Facts): Promise<ReadonlySet<string> | undefined> {
  const isUsed = usedWithin(facts);
  const quiet = facts.claims.flatMap((claim) =>
    claim.node && facts.marked.has(claim.node) && !isUsed(claim) ? claim.node : [],
  );
  try {
    const busy: ReadonlySet<string> | Unavailable = await context.pods.busyNodes(quiet, context);
    if (!("unavailable" in busy)) return busy;
    reportLimit(context, busy);
  } catch (error) {
    // Holds are extended and end all the same.
    context.log.warn("pods could not be read: this look lets no empty node go", { error });
  }
  return undefined;
}

/** A log line names this many nodes. */
const sample = (names: Iterable<string>): readonly string[] => [...names].slice(0, 20);
