import { after, type Duration, hours } from "../duration.ts";
import { BrokenSetupError, messageOf } from "../errors.ts";
import type { Hold } from "../holds/hold.ts";
import type { CallContext, Context } from "../ports.ts";
import type { Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";

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
    attempt(() => readHolds(context)),
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

async function readHolds(context: Context) {
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

/** What a cluster did with a change that was only tried, never written. */
export type Trial = "admitted" | "refused" | "not tried";

/** A node that something other than a hold keeps, and since when at least. */
export type KeptNode = Readonly<{ node: string; since: Date; by?: string }>;

/** A node whose user annotated it with a value that Karpenter passes over. */
export type IneffectiveNode = Readonly<{ node: string; value: string }>;

/** What the cluster shows of itself to those who may only read and mark nodes. */
export type ClusterFindings = Readonly<{
  kubernetes: string;
  /** What we need and may not do, like "patch nodes". */
  missingRights: readonly string[];
  /** What we may do and never need. */
  needlessRights: readonly string[];
  /** A change that is not ours to make must be refused by the admission policy. */
  foreignChange: Trial;
  /** Our mark must be admitted. */
  ownChange: Trial;
  /** What the cluster said where a trial did not end as it must. */
  said?: string;
  /** The cluster's own clock, where a trial reported it. */
  clusterTime?: Date;
  nodes: number;
  /** Karpenter's finalizer blocks the deletion of these nodes, and nothing removes it. */
  stuck: readonly KeptNode[];
  /** Held by their users for longer than a day. */
  userHeld: readonly KeptNode[];
  /** Carry Karpenter's annotation with a value that protects nothing. */
  ineffective: readonly IneffectiveNode[];
}>;

/** Looks around in the cluster with no more rights than the holder has, and changes nothing. */
export interface Inspection {
  inspect(context: CallContext): Promise<ClusterFindings>;
}
