import { changeRecord } from "../holds/change-record.ts";
import type { Hold, ScopeRecord } from "../holds/hold.ts";
import type { ReleasePorts } from "../ports.ts";
import type { Scope } from "../scope.ts";

/** Sets the one-shot and notes it in the record, so that extensions need not set another. */
export async function armRelease(ports: ReleasePorts, scope: Scope, hold: Hold, at: Date): Promise<void> {
  const result = await ports.schedules.arm(scope, hold.id, at);
  ports.log.info("release armed", { scope, holdId: hold.id, at, result });
  await changeRecord(ports, scope, (record) => ({ record: withArmed(record, hold.id, at) }));
}

function withArmed(record: ScopeRecord, holdId: string, at: Date): ScopeRecord | undefined {
  const { hold } = record;
  if (hold?.id !== holdId || hold.armedFor?.getTime() === at.getTime()) return undefined;
  return { ...record, hold: { ...hold, armedFor: at } };
}
