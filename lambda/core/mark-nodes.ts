import { changeRecord } from "./change-record.ts";
import type { Hold, ScopeRecord } from "./hold.ts";
import type { Marked, Ports } from "./ports.ts";
import type { Scope } from "./scope.ts";

/** Marks for a hold, then looks at the record once more: marks put for a hold that ended meanwhile do not stay. */
export async function markNodes(ports: Ports, scope: Scope, holdId: string, deadline: Date): Promise<Marked> {
  const marked = await ports.nodes.mark(scope, holdId, deadline);
  const touched = marked.marked + marked.adopted;
  ports.log.info("nodes marked", { scope, holdId, ...marked, seen: marked.seen.length });
  if (touched === 0 && !marked.left) return marked;

  const after = await changeRecord(ports, scope, (record) => countNodes(record, holdId, touched));
  if (after.isOurs) return marked;
  if (after.present) {
    ports.log.info("marks handed to the present hold", { scope, holdId, present: after.present.id });
    return markNodes(ports, scope, after.present.id, deadline);
  }
  const released = await ports.nodes.release(holdId, deadline);
  ports.log.info("marks taken off again: their hold ended meanwhile", { scope, holdId, ...released });
  return { ...marked, marked: 0, adopted: 0 };
}

type Count = Readonly<{ isOurs: boolean; present?: Hold; record?: ScopeRecord }>;

function countNodes(record: ScopeRecord, holdId: string, touched: number): Count {
  const { hold } = record;
  if (hold?.state !== "held") return { isOurs: false };
  if (hold.id !== holdId) return { isOurs: false, present: hold };
  if (touched === 0) return { isOurs: true };
  return { isOurs: true, record: { ...record, hold: { ...hold, nodes: hold.nodes + touched } } };
}
