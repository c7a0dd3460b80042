import { join } from "node:path";
import { buildFolder } from "../engines/build-once.ts";
import type { Course } from "./rows.ts";
import type { Seen, Truth } from "./run.ts";

/** One line of the table as it was seen; seconds, rounded. Where nothing happened, nothing is told. */
export type OutcomeRow = Readonly<{
  what: string;
  course: Course;
  /** Whether Karpenter left the nodes alone as long as they were held; where it waits for both, as long as for the other. */
  blocked: boolean;
  /** How long the nodes were held after all that would have them disrupted was there. */
  heldSeconds: number;
  /** From the moment the nodes were free, or the beginning of the hold that did not help, to the last being gone. */
  goneSeconds: number;
}>;

export type Outcome = Readonly<{ karpenter: string; date: string; rows: readonly OutcomeRow[] }>;

/** Where the suite leaves what it saw of a version of Karpenter. */
export const outcomeFile = (version: string): string => join(buildFolder, `truth-table-${version}.json`);

const seconds = (ms: number): number => Math.round(ms / 1000);

/** What was seen, in the words of the page. */
export function outcomeOf(truth: Truth, karpenter: string): Outcome {
  const date = new Date(truth.heldAt).toISOString().slice(0, 10);
  return { karpenter, date, rows: truth.seen.map((seen) => rowOf(seen, truth)) };
}

function rowOf({ row, triggeredAt, liftedAt, touchedAt, goneAt }: Seen, truth: Truth): OutcomeRow {
  const { heldAt, releasedAt } = truth;
  const { what, course } = row;
  const isOther = course === "after the hold and the other";
  const heldFrom = Math.max(heldAt, triggeredAt, liftedAt < releasedAt ? liftedAt : 0);
  const freeFrom = course === "although held" ? heldAt : Math.max(releasedAt, liftedAt);
  return {
    what,
    course,
    blocked: touchedAt > (isOther ? liftedAt : releasedAt),
    heldSeconds: seconds(releasedAt - heldFrom),
    goneSeconds: seconds(goneAt - freeFrom),
  };
}
