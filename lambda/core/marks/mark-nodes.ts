import { earlier } from "../duration.ts";
import { changeRecord } from "../holds/change-record.ts";
import { dueAt, type Hold, joinsCountFrom, type ScopeRecord, withJoinedNode } from "../holds/hold.ts";
import type { Context, Marked } from "../ports.ts";
import { setOneShot } from "../releases/arm-release.ts";
import { handOver, outlastingHolds } from "../releases/hand-over.ts";
import type { Scope } from "../scope.ts";

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

/** Marks for a hold, then looks at the record once more: marks put for a hold that ended meanwhile do not stay. */
export async function markNodes(context: Context, { scope, hold, armedFor }: Marking): Promise<Marked> {
  const { id: holdId } = hold;
  const outlasting = await outlastingHolds(context);
  const adopts = (other: string) => !outlasting.has(other);
  const marked = await context.nodes.mark({ scope, holdId, adopts }, context);
  const touched = touchedBy(marked);
  context.log.info("nodes marked", { scope, holdId, ...marked, seen: marked.seen.length });
  if (touched === 0 && !marked.left && !(isComplete(marked) && hold.unprotected) && !armedFor) return marked;

  const note = { holdId, marked, armedFor };
  const noted = await changeRecord(context, scope, (record) => noteMarks(record, note));
  if (noted.protected) reportProtected(context, noted.protected);
  if (noted.isOurs) return marked;
  if (noted.present) {
    context.log.info("marks handed to the present hold", { scope, holdId, present: noted.present.id });
    return markNodes(context, { scope, hold: noted.present });
  }
  await handOver(context, [{ scope, hold }]);
  const released = await context.nodes.release({ holdId }, context);
  context.log.info("marks taken off again: their hold ended meanwhile", { scope, holdId, ...released });
  return { ...marked, marked: 0, adopted: 0 };
}

const touchedBy = ({ marked, adopted }: Marked): number => marked + adopted;
const isComplete = ({ left, failed }: Marked): boolean => !left && failed === 0;

type Noted = Readonly<{ isOurs: boolean; present?: Hold; protected?: Hold; record?: ScopeRecord }>;

type Note = Readonly<{ holdId: string; marked: Marked; armedFor: Date | undefined }>;

function noteMarks(record: ScopeRecord, { holdId, marked, armedFor }: Note): Noted {
  const { hold } = record;
  const touched = touchedBy(marked);
  const isAll = isComplete(marked);
  if (hold?.state !== "held") return { isOurs: false };
  if (hold.id !== holdId) return { isOurs: false, present: hold };
  const { unprotected = false, ...rest } = hold;
  const isProtectedNow = unprotected && isAll;
  // A launch that extended the hold meanwhile may have set and noted a one-shot of its own.
  const isArmedNow = armedFor !== undefined && !hold.armedFor;
  if (touched === 0 && !isProtectedNow && !isArmedNow) return { isOurs: true };
  const next = {
    ...(isProtectedNow ? rest : hold),
    nodes: hold.nodes + touched,
    ...(isArmedNow && { armedFor }),
  };
  const written = { ...(showsJoined(record, marked) ? withJoinedNode(record) : record), hold: next };
  return { isOurs: true, record: written, ...(isProtectedNow && { protected: hold }) };
}

/** Whether launches of this scope lead to nodes. */
const showsJoined = ({ unjoinedSince }: ScopeRecord, { seen }: Marked): boolean =>
  unjoinedSince !== undefined && seen.some(({ joinedAt }) => joinedAt > joinsCountFrom(unjoinedSince));

/** The invocation that marks the last node of the start records it, once; later launches may have moved the cause since. */
function reportProtected(context: Context, { causedAt, startedAt }: Hold): void {
  const lag = context.clock.now().getTime() - earlier(causedAt, startedAt).getTime();
  context.metrics.add("LaunchToProtectedMs", Math.max(0, lag));
}
