import type { ReleaseContext } from "../ports.ts";
import type { Scope } from "../scope.ts";
import type { Hold, ScopeRecord } from "./hold.ts";
import { changeRecord } from "./records.ts";

/** A hold of a scope, and when its one-shot is to fire. */
type OneShot = Readonly<{ scope: Scope; hold: Hold; at: Date }>;

/** Sets the one-shot and notes it in the record, so that extensions need not set another. */
export async function armRelease(context: ReleaseContext, oneShot: OneShot): Promise<void> {
  const { scope, hold, at } = oneShot;
  await setOneShot(context, oneShot);
  await changeRecord(context, scope, (record) => ({ record: withArmed(record, hold.id, at) }));
}

/** Sets the one-shot alone: the record does not know of it until it is noted there. */
export async function setOneShot(context: ReleaseContext, { scope, hold, at }: OneShot): Promise<void> {
  const result = await context.schedules.arm(scope, hold.id, at);
  context.log.info("release armed", { scope, holdId: hold.id, at, result });
}

function withArmed(record: ScopeRecord, holdId: string, at: Date): ScopeRecord | undefined {
  const { hold } = record;
  if (hold?.id !== holdId || hold.armedFor?.getTime() === at.getTime()) return undefined;
  return { ...record, hold: { ...hold, armedFor: at } };
}
