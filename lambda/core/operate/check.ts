import type { Duration } from "../duration.ts";
import { after, hours } from "../duration.ts";
import { BrokenSetupError, messageOf } from "../errors.ts";
import type { Hold } from "../holds/hold.ts";
import type { Context } from "../ports.ts";
import type { Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";
import type { ClusterFindings, Inspection } from "./inspection.ts";

/** One link as seen from inside: what it showed, or why it does not work. */
export type Link<T> = (Readonly<{ works: true }> & T) | Readonly<{ works: false; because: string }>;

export type PresentHold = Readonly<Pick<Hold, "id" | "state" | "expiresAt" | "armedFor"> & { scope: Scope }>;

/** What only the functions themselves can see of the chain they are links of. */
export type CheckAnswer = Readonly<{
  at: Date;
  rules: Rules;
  record: Link<Readonly<{ holds: readonly PresentHold[]; lastSweep?: Date }>>;
  launches: Link<Readonly<{ recent: number }>>;
  cluster: Link<ClusterFindings>;
}>;

const recently: Duration = hours(1);

/** Tries every link from inside; a broken one is reported and does not keep the others from being tried. */
export async function checkLinks(context: Context, inspection: Inspection): Promise<CheckAnswer> {
  const at = context.clock.now();
  const [record, launches, cluster] = await Promise.all([
    attempt(() => lookAtRecord(context)),
    attempt(async () => ({ recent: (await context.launches.since(after(at, -recently), context)).length })),
    attempt(() => inspection.inspect(context)),
  ]);
  context.log.info("links checked", {
    record: record.works,
    launches: launches.works,
    cluster: cluster.works,
  });
  return { at, rules: context.rules, record, launches, cluster };
}

async function lookAtRecord(context: Context) {
  const [{ records }, lastSweep] = await Promise.all([context.holds.all(), context.journal.lastSweep()]);
  const broken = records.find(({ unreadable }) => unreadable)?.unreadable;
  if (broken) throw new BrokenSetupError(broken);
  const holds = records.flatMap(({ scope, hold }): PresentHold[] => {
    if (!hold) return [];
    const { id, state, expiresAt, armedFor } = hold;
    return [{ scope, id, state, expiresAt, ...(armedFor && { armedFor }) }];
  });
  return { holds, ...(lastSweep && { lastSweep }) };
}

async function attempt<T>(look: () => Promise<T>): Promise<Link<T>> {
  try {
    return { works: true, ...(await look()) };
  } catch (error) {
    return { works: false, because: messageOf(error) };
  }
}
