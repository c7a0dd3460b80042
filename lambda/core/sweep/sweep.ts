import { attemptAll } from "../attempt-all.ts";
import { learnedLength } from "../auto/observe.ts";
import { after, type Duration, earlier, seconds } from "../duration.ts";
import type { ScopeRecord } from "../holds/hold.ts";
import { watermarkOf } from "../holds/hold.ts";
import { awaitPendingNodes } from "../launches/pending-nodes.ts";
import { markNodes } from "../marks/mark-nodes.ts";
import type { AllHolds, Context } from "../ports.ts";
import { armRelease } from "../releases/arm-release.ts";
import { isKept } from "../rules.ts";
import type { Scope } from "../scope.ts";
import { decideSweep, logSweepDecision } from "./decide-sweep.ts";
import { planSweep, type RecordWithHold } from "./plan-sweep.ts";
import { recoverMissedLaunches } from "./recover-missed-launches.ts";
import { releaseOverdue } from "./release-overdue.ts";

/** Until which part of the whole time each stage may work; what one does not use is the next one's. */
const shares = { releases: 0.6, recovery: 0.75, marks: 1 } as const;
/** No scope keeps the others waiting for longer. */
const scopeTime: Duration = seconds(30);

/**
 * Compares records, nodes and clock from scratch and repairs what events lost. What must end comes first, what must be
 * marked comes last, each within its share of the time; no failure stops the rest.
 */
export async function sweep(context: Context): Promise<void> {
  const { clock, holds, journal, rules } = context;
  const start = clock.now();
  const all = await holds.all();
  const next = await journal.nextToSweep();
  const plan = planSweep(all.records, { rules, now: start, next });
  const within = (share: number): Context => {
    const time = (context.deadline.getTime() - start.getTime()) * share;
    return { ...context, deadline: after(start, time) };
  };
  await attemptAll([
    () => releaseOverdue(within(shares.releases), plan),
    // Before scopes are marked: a mark would hide that a launch was missed.
    () => recoverMissedLaunches(within(shares.recovery)),
    () => keepHolds(within(shares.marks), next),
    async () => measure(context, all.records),
    ...problemsOf(all),
  ]);
  await journal.noteSweep(clock.now());
}

const problemsOf = ({ unreadable, nameless }: AllHolds) =>
  [...unreadable, ...nameless].map((error) => () => Promise.reject(error));

/** Marks for each running hold what carries no mark, and arms its release; notes where the time was over. */
async function keepHolds(context: Context, next: Scope | undefined): Promise<void> {
  const { rules, clock, holds } = context;
  // Read again: a hold that was due may have been extended meanwhile, or another one may have begun.
  const { running } = planSweep((await holds.all()).records, { rules, now: clock.now(), next });
  let stoppedAt: Scope | undefined;
  const works = running.map((record) => async () => {
    if (context.clock.now() >= context.deadline) stoppedAt ??= record.scope;
    if (!stoppedAt) await keepHold(forOneScope(context), record);
  });
  try {
    await attemptAll(works);
  } finally {
    if (stoppedAt !== next) await context.journal.noteNextToSweep(stoppedAt);
  }
}

const forOneScope = (context: Context): Context => ({
  ...context,
  deadline: earlier(context.deadline, after(context.clock.now(), scopeTime)),
});

async function keepHold(context: Context, record: RecordWithHold): Promise<void> {
  const { scope } = record;
  const { rules, clock } = context;
  // The plan has compared it with the whole cluster's watermark.
  const decision = decideSweep({ record, watermark: watermarkOf(record), rules, now: clock.now() });
  logSweepDecision(context, scope, decision);
  // One that became due meanwhile is released by its one-shot, or by the next sweep.
  if (decision.action !== "keep" && decision.action !== "outlast") return;
  const { hold, armFor } = decision;
  if (decision.action === "keep") {
    // The hold is recorded, so marking need not wait for a scheduler that may be out of order.
    const marked = await markNodes(context, { scope, hold });
    await awaitPendingNodes(context, { scope, awaited: [], attempt: 0 }, marked);
  }
  await armRelease(context, { scope, hold, at: armFor });
}

function measure({ clock, metrics, rules }: Context, records: readonly ScopeRecord[]): void {
  for (const record of records.filter(({ scope }) => isKept(rules, scope))) {
    const learned = learnedLength(record, rules);
    if (learned) metrics.add("LearnedHoldMs", learned.length);
  }
  const started = records.flatMap(({ hold }) => (hold ? [hold.startedAt.getTime()] : []));
  const oldest = started.reduce((a, b) => Math.min(a, b), clock.now().getTime());
  metrics.add("HoldActive", started.length);
  metrics.add("OldestHoldMs", clock.now().getTime() - oldest);
}
