import { earlier } from "../duration.ts";
import { changeRecord } from "../holds/change-record.ts";
import type { Hold, ScopeRecord } from "../holds/hold.ts";
import type { Marked, Ports } from "../ports.ts";
import type { Scope } from "../scope.ts";

/** Marks for a hold, then looks at the record once more: marks put for a hold that ended meanwhile do not stay. */
export async function markNodes(ports: Ports, scope: Scope, hold: Hold, deadline: Date): Promise<Marked> {
  const { id: holdId } = hold;
  const marked = await ports.nodes.mark(scope, holdId, deadline);
  const touched = marked.marked + marked.adopted;
  const isAll = !marked.left && marked.failed === 0;
  ports.log.info("nodes marked", { scope, holdId, ...marked, seen: marked.seen.length });
  if (touched === 0 && !marked.left && !(isAll && hold.unprotected)) return marked;

  const after = await changeRecord(ports, scope, (record) => noteMarks(record, holdId, touched, isAll));
  if (after.protected) reportProtected(ports, after.protected);
  if (after.isOurs) return marked;
  if (after.present) {
    ports.log.info("marks handed to the present hold", { scope, holdId, present: after.present.id });
    return markNodes(ports, scope, after.present, deadline);
  }
  const released = await ports.nodes.release(holdId, deadline);
  ports.log.info("marks taken off again: their hold ended meanwhile", { scope, holdId, ...released });
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

/** Whoever marked the last node of the beginning tells it, once; later launches may have moved the cause since. */
function reportProtected(ports: Ports, { causedAt, startedAt }: Hold): void {
  const lag = ports.clock.now().getTime() - earlier(causedAt, startedAt).getTime();
  ports.metrics.add("LaunchToProtectedMs", Math.max(0, lag));
}
