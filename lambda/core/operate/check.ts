import { after, type Duration, hours } from "../duration.ts";
import { BrokenSetupError, messageOf } from "../errors.ts";
import type { CallContext, Context } from "../ports.ts";
import { untilOf } from "../requests.ts";
import type { Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";

/** One link, checked from inside: what was found, or why it does not work. */
export type Link<T> = (Readonly<{ works: true }> & T) | Readonly<{ works: false; because: string }>;

export type PresentHold = Readonly<{
  scope: Scope;
  id: string;
  state: "held" | "releasing";
  /** When it is due; where it is over, when it ended. */
  until: Date;
  nextLook?: Date;
}>;

/** What the functions find out about themselves and all that they call. */
export type CheckAnswer = Readonly<{
  at: Date;
  rules: Rules;
  record: Link<Readonly<{ holds: readonly PresentHold[]; lastSweep?: Date }>>;
  launches: Link<Readonly<{ recent: number }>>;
  cluster: Link<ClusterFindings>;
}>;

const recently: Duration = hours(1);

/** Checks every link from inside; a broken one is reported and does not stop the other checks. */
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
  const holds = records.flatMap((record): PresentHold[] => {
    const { scope, hold } = record;
    if (!hold) return [];
    const { id, ended, startedAt } = hold;
    const until = ended?.at ?? untilOf(record, context.rules) ?? startedAt;
    const nextLook = record.looks.oneShot;
    return [{ scope, id, state: ended ? "releasing" : "held", until, ...(nextLook && { nextLook }) }];
  });
  return { holds, ...(lastSweep && { lastSweep }) };
}

async function attempt<T>(check: () => Promise<T>): Promise<Link<T>> {
  try {
    return { works: true, ...(await check()) };
  } catch (error) {
    return { works: false, because: messageOf(error) };
  }
}

/** What a cluster answered to a dry run. */
export type Trial = "admitted" | "refused" | "not tried";

/** A node that is kept by something other than a hold, and since when at least. */
export type KeptNode = Readonly<{ node: string; since: Date; by?: string }>;

/** A node that its user annotated with a value that Karpenter ignores. */
export type IneffectiveNode = Readonly<{ node: string; value: string }>;

/** What an inspection with the holder's rights finds in a cluster. */
export type ClusterFindings = Readonly<{
  kubernetes: string;
  /** Rights that we need and do not have, like "patch nodes". */
  missingRights: readonly string[];
  /** Rights that we have and do not need. */
  needlessRights: readonly string[];
  /** The admission policy must refuse a change that is not ours to make. */
  foreignChange: Trial;
  /** The admission policy must admit our mark. */
  ownChange: Trial;
  /** The cluster's message, where a dry run did not end as it must. */
  said?: string;
  /** The cluster's own clock, where a dry run shows it. */
  clusterTime?: Date;
  nodes: number;
  /** Karpenter's finalizer blocks the deletion of these nodes, and nothing removes it. */
  stuck: readonly KeptNode[];
  /** Held by their users for longer than a day. */
  userHeld: readonly KeptNode[];
  /** Carry Karpenter's annotation with a value that protects nothing. */
  ineffective: readonly IneffectiveNode[];
}>;

/** Inspects a cluster with the holder's rights, and changes nothing. */
export interface Inspection {
  inspect(context: CallContext): Promise<ClusterFindings>;
}
