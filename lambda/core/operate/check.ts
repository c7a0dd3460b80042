import { after, type Duration, hours } from "../duration.ts";
import { BrokenSetupError, messageOf } from "../errors.ts";
import type { CallContext, PassPorts, Ports } from "../ports.ts";
import { untilOf } from "../requests.ts";
import { type Rules, whyLeftOut } from "../rules.ts";
import { type Scope, wholeCluster } from "../scope.ts";

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

/** A pause that is on. */
export type PresentPause = Readonly<{ scope: Scope; since: Date; until: Date; because: string }>;

/** What a function finds out about itself and all that it calls. */
export type CheckAnswer = Readonly<{
  at: Date;
  rules: Rules;
  record: Link<
    Readonly<{ holds: readonly PresentHold[]; pauses: readonly PresentPause[]; lastSweep?: Date }>
  >;
  /** Whether it can write to the record's table. */
  write: Link<unknown>;
  /** Not of the release function, which asks EC2 nothing. */
  launches?: Link<Readonly<{ recent: number }>>;
  cluster: Link<ClusterFindings>;
}>;

/** What a function is checked with. */
export type CheckPorts = PassPorts & Partial<Pick<Ports, "launches">>;
type CheckContext = CheckPorts & CallContext;
export type Checking = Readonly<{ inspection: Inspection; version: string }>;

const recently: Duration = hours(1);

/** Checks every link from inside; a broken one is reported and does not stop the other checks. */
export async function checkLinks(
  context: CheckContext,
  { inspection, version }: Checking,
): Promise<CheckAnswer> {
  const at = context.clock.now();
  const { launches } = context;
  const [record, write, asked, cluster] = await Promise.all([
    attempt(() => readHolds(context, at)),
    attempt(() => writeTrial(context, version, at)),
    launches &&
      attempt(async () => ({ recent: (await launches.since(after(at, -recently), context)).length })),
    attempt(() => inspection.inspect(context)),
  ]);
  const works = { record: record.works, write: write.works, launches: asked?.works, cluster: cluster.works };
  context.log.info("links checked", works);
  return { at, rules: context.rules, record, write, ...(asked && { launches: asked }), cluster };
}

/** As a probe is answered, which nothing waits for and the table forgets after a day. */
async function writeTrial({ journal }: CheckContext, version: string, at: Date) {
  await journal.answerProbe({ id: "check", sentAt: at, queuedAt: at, answeredAt: at, version });
  return {};
}

async function readHolds(context: CheckContext, now: Date) {
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
  const pauses = records.flatMap(({ scope, quiet }): PresentPause[] => {
    if (quiet?.kind !== "paused" || quiet.until <= now) return [];
    // Of the scopes that the settings leave out, only a pause of the whole cluster has an effect.
    if (scope !== wholeCluster && whyLeftOut(context.rules, scope)) return [];
    const { since, until, because } = quiet;
    return [{ scope, since, until, because }];
  });
  return { holds, pauses, ...(lastSweep && { lastSweep }) };
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
