import { earlier } from "../duration.ts";
import type { Context, Marked } from "../ports.ts";
import type { Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";
import { setOneShot } from "./arm-release.ts";
import { dueAt, type Hold, isUnjoined, joinedHold, joinsCountFrom, type ScopeRecord } from "./hold.ts";
import { changeRecord } from "./records.ts";

/**
 * Sets the one-shot of a hold that has none, then marks its nodes, and notes both with one write. After a crash in
 * between, the record still names no one-shot, and the next launch or sweep sets the same one again.
 */
export async function armAndMark(context: Context, scope: Scope, hold: Hold): Promise<Marked> {
  if (hold.armedFor) return markNodes(context, { scope, hold });
  const armedFor = dueAt(hold, context.rules);
  await setOneShot(context, { scope, hold, at: armedFor });
  return markNodes(context, { scope, hold, armedFor });
}

type Marking = Readonly<{ scope: Scope; hold: Hold; armedFor?: Date }>;

/** Marks for a hold, then re-reads the record: marks for a hold that ended meanwhile come off again. */
export async function markNodes(context: Context, { scope, hold, armedFor }: Marking): Promise<Marked> {
  const { id: holdId } = hold;
  const { rules, nodes, log } = context;
  const marked = await nodes.mark({ scope, holdId }, context);
  log.info("nodes marked", { scope, holdId, ...marked, seen: marked.seen.length });
  const hasNews = touchedBy(marked) > 0 || marked.left || (isComplete(marked) && hold.unprotected);
  if (!hasNews && !armedFor && !showsJoined(hold, marked)) return marked;

  const noted = await changeRecord(context, scope, (record) =>
    noteMarks(record, { holdId, marked, armedFor, rules }),
  );
  if (noted.protected) reportProtected(context, noted.protected);
  if (noted.isOurs) return marked;
  // The present hold marks first, so that no node is without a mark in between.
  const byPresent = noted.present && (await markNodes(context, { scope, hold: noted.present }));
  const released = await nodes.release(holdId, context);
  log.info("marks taken off again: their hold ended meanwhile", { scope, holdId, ...released });
  return byPresent ?? { ...marked, marked: 0, adopted: 0 };
}

const touchedBy = ({ marked, adopted }: Marked): number => marked + adopted;
const isComplete = ({ left, failed }: Marked): boolean => !left && failed === 0;

/** Whether one of the nodes launched for the hold is seen for the first time. */
const showsJoined = (hold: Hold, { seen }: Marked): boolean =>
  isUnjoined(hold) && seen.some(({ joinedAt }) => joinedAt > joinsCountFrom(hold.burstFrom));

type Note = Readonly<{ holdId: string; marked: Marked; armedFor: Date | undefined; rules: Rules }>;
type Noted = Readonly<{ isOurs: boolean; present?: Hold; protected?: Hold; record?: ScopeRecord }>;

function noteMarks(record: ScopeRecord, { holdId, marked, armedFor, rules }: Note): Noted {
  const { hold } = record;
  if (hold?.state !== "held") return { isOurs: false };
  if (hold.id !== holdId) return { isOurs: false, present: hold };
  const touched = touchedBy(marked);
  const isProtectedNow = hold.unprotected === true && isComplete(marked);
  // A launch that extended the hold meanwhile may have set and noted a one-shot of its own.
  const isArmedNow = armedFor !== undefined && !hold.armedFor;
  const isJoinedNow = showsJoined(hold, marked);
  if (touched === 0 && !isProtectedNow && !isArmedNow && !isJoinedNow) return { isOurs: true };
  const { unprotected, ...rest } = isJoinedNow ? joinedHold(hold, rules) : hold;
  const next = {
    ...rest,
    ...(unprotected && !isProtectedNow && { unprotected }),
    nodes: hold.nodes + touched,
    ...(isArmedNow && { armedFor }),
  };
  return { isOurs: true, record: { ...record, hold: next }, ...(isProtectedNow && { protected: hold }) };
}

/** The invocation that marks the last node of the start records it, once; later launches may have moved the cause since. */
function reportProtected(context: Context, { causedAt, startedAt }: Hold): void {
  const lag = context.clock.now().getTime() - earlier(causedAt, startedAt).getTime();
  context.metrics.add("LaunchToProtectedMs", Math.max(0, lag));
}
