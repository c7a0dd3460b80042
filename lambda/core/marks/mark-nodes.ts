import { earlier } from "../duration.ts";
import { changeRecord } from "../holds/change-record.ts";
import type { Hold, ScopeRecord } from "../holds/hold.ts";
import type { Context, Marked } from "../ports.ts";
import { outlastingHolds } from "../releases/hand-over.ts";
import type { Scope } from "../scope.ts";

/** Marks for a hold, then looks at the record once more: marks put for a hold that ended meanwhile do not stay. */
export async function markNodes(context: Context, scope: Scope, hold: Hold): Promise<Marked> {
  const { id: holdId } = hold;
  const marked = await context.nodes.mark(scope, holdId, context, await outlastingHolds(context));
  const touched = marked.marked + marked.adopted;
  const isAll = !marked.left && marked.failed === 0;
  context.log.info("nodes marked", { scope, holdId, ...marked, seen: marked.seen.length });
  if (touched === 0 && !marked.left && !(isAll && hold.unprotected)) return marked;

  const after = await changeRecord(context, scope, (record) => noteMarks(record, holdId, touched, isAll));
  if (after.protected) reportProtected(context, after.protected);
  if (after.isOurs) return marked;
  if (after.present) {
    context.log.info("marks handed to the present hold", { scope, holdId, present: after.present.id });
    return markNodes(context, scope, after.present);
  }
  const released = await context.nodes.release(holdId, context);
  context.log.info("marks taken off again: their hold ended meanwhile", { scope, holdId, ...released });
  return { ...marked, marked: 0, adopted: 0 };
}

type Noted = Readonly<{ isOurs: boolean; present?: Hold; protected?: Hold; record?: ScopeRecord }>;

function noteMarks(record: ScopeRecord, holdId: string, touched: number, isAll: boolean): Noted {
  const { hold } = record;
  if (hold?.state !== "held") return { isOurs: false };
  if (hold.id !== holdId) return { isOurs: false, present: hold };
  const { unprotected = false, ...rest } = hold;
  const isProtectedNow = unprotected && isAll;
  if (touched === 0 && !isProtectedNow) return { isOurs: true };
  const counted = { ...(isProtectedNow ? rest : hold), nodes: hold.nodes + touched };
  return { isOurs: true, record: { ...record, hold: counted }, ...(isProtectedNow && { protected: hold }) };
}

/** Whoever marked the last node of the beginning reports it, once; later launches may have moved the cause since. */
function reportProtected(context: Context, { causedAt, startedAt }: Hold): void {
  const lag = context.clock.now().getTime() - earlier(causedAt, startedAt).getTime();
  context.metrics.add("LaunchToProtectedMs", Math.max(0, lag));
}
