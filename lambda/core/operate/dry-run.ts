import type { ScopeRecord } from "../holds/hold.ts";
import type { Context, Holds, Log, Nodes, Ports } from "../ports.ts";
import type { Scope } from "../scope.ts";

/**
 * The same outside world to read from; what is written stays in here and is read again from here. `nodes` has every
 * change checked by the cluster, which keeps none.
 */
export function dryRunOf(context: Context, nodes: Nodes): Context {
  const nothing = async () => {};
  const outside: Pick<Ports, "holds" | "journal" | "nodes" | "schedules" | "followUps" | "metrics"> = {
    holds: recordsWrittenHere(context.holds),
    journal: {
      history: (limit) => context.journal.history(limit),
      lastSweep: () => context.journal.lastSweep(),
      nextToSweep: () => context.journal.nextToSweep(),
      findProbe: (id) => context.journal.findProbe(id),
      remember: nothing,
      noteSweep: nothing,
      noteNextToSweep: nothing,
      answerProbe: nothing,
    },
    nodes: withoutReleased(nodes),
    schedules: { arm: async () => "armed" },
    followUps: { enqueue: nothing },
    metrics: { add: () => {} },
  };
  return { ...context, ...outside, log: marked(context.log) };
}

function recordsWrittenHere(holds: Holds): Holds {
  const written = new Map<Scope, ScopeRecord>();
  const keep = (record: ScopeRecord) => void written.set(record.scope, record);
  return {
    find: async (scope) => written.get(scope) ?? (await holds.find(scope)),
    all: async () => {
      const { records, ...rest } = await holds.all();
      const others = records.filter(({ scope }) => !written.has(scope));
      return { ...rest, records: [...others, ...written.values()] };
    },
    write: async (record) => {
      keep(record);
      return true;
    },
    replace: async (record) => keep(record),
  };
}

/** Marks that were taken off would be counted again, because they are still there. */
function withoutReleased(nodes: Nodes): Nodes {
  const released = new Set<string>();
  return {
    mark: (what, context) => nodes.mark(what, context),
    release: (what, context) => {
      released.add(what.holdId);
      return nodes.release(what, context);
    },
    releaseAll: (holdIds, context) => nodes.releaseAll(holdIds, context),
    marks: (except, context) => nodes.marks([...except, ...released], context),
    markedNodes: (context) => nodes.markedNodes(context),
    joinedSince: (since, which, context) => nodes.joinedSince(since, which, context),
    hasJoined: (...args) => nodes.hasJoined(...args),
    countUserHeld: (context) => nodes.countUserHeld(context),
  };
}

const marked = (log: Log): Log => ({
  info: (sentence, fields) => log.info(sentence, { ...fields, dryRun: true }),
  warn: (sentence, fields) => log.warn(sentence, { ...fields, dryRun: true }),
  error: (sentence, fields) => log.error(sentence, { ...fields, dryRun: true }),
});
