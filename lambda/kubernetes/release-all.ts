import { after, type Duration, earlier, seconds } from "../core/duration.ts";
import { isHoldId } from "../core/marks/hold-id.ts";
import { holdLabel } from "../core/marks/keys.ts";
import type { ManagedNode } from "../core/marks/plan-marks.ts";
import type { CallContext, Clock, Released, ReleasedAll } from "../core/ports.ts";
import { OutOfTimeError } from "./client.ts";
import { forEachConcurrent } from "./for-each-concurrent.ts";
import { inFlight } from "./transport.ts";

type Outcome = "released" | "kept" | "gone" | "failed" | "left";

export type ReleaseAllOptions = Readonly<{
  holdIds: ReadonlySet<string>;
  release: (node: ManagedNode, holdId: string, context: CallContext) => Promise<Outcome>;
  clock: Clock;
}>;

/** The longest time for one node: a slow node must not block a connection for longer. */
const nodeTime: Duration = seconds(15);
/** After this many nodes of a hold that could not be released, its other nodes are left to the next sweep. */
const mostProblems = 5;

/** Removes marks in one pass over all marked nodes. Nodes that cannot be changed hardly delay those of other holds. */
export async function releaseAll(
  nodes: AsyncIterable<ManagedNode>,
  { holdIds, release, clock }: ReleaseAllOptions,
  context: CallContext,
): Promise<ReleasedAll> {
  const released = new Map<string, Released>();
  const others = new Map<string, number>();
  const problems = new Map<string, number>();
  const visit = async (node: ManagedNode): Promise<void> => {
    const holdId = node.labels?.[holdLabel];
    if (!isHoldId(holdId)) return;
    if (!holdIds.has(holdId)) return void increment(others, holdId);
    const isStuck = (problems.get(holdId) ?? 0) >= mostProblems;
    const deadline = earlier(context.deadline, after(clock.now(), nodeTime));
    const outcome = isStuck ? "left" : await release(node, holdId, { ...context, deadline });
    if (outcome === "left" || outcome === "failed") increment(problems, holdId);
    released.set(holdId, counted(released.get(holdId), outcome));
  };
  try {
    await forEachConcurrent(nodes, inFlight, visit);
    return { released, others, left: false };
  } catch (error) {
    if (error instanceof OutOfTimeError) return { released, others, left: true };
    throw error;
  }
}

const increment = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);

const none: Released = { released: 0, kept: 0, failed: 0, left: false };

function counted(before: Released = none, outcome: Outcome): Released {
  if (outcome === "gone") return before;
  if (outcome === "left") return { ...before, left: true };
  return { ...before, [outcome]: before[outcome] + 1 };
}
