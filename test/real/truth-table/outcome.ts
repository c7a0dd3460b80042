import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildFolder } from "../engines/build-once.ts";
import type { Course } from "./rows.ts";
import type { Seen, Truth } from "./run.ts";

/** The result of one row, in rounded seconds; a value is missing when the event did not happen. */
export type OutcomeRow = Readonly<{
  what: string;
  course: Course;
  /** Whether Karpenter left the nodes alone during the hold; with another obstacle, also during that. */
  blocked: boolean;
  /** How long the nodes stayed held after every reason to disrupt them existed. */
  heldSeconds: number;
  /** From the release, or from the start of the hold that did not help, until the last node was gone. */
  goneSeconds: number;
}>;

export type Outcome = Readonly<{ karpenter: string; date: string; rows: readonly OutcomeRow[] }>;

/** The suite's file with the outcomes on a version of Karpenter, from which the page is written. */
export const outcomeFile = (version: string): string => join(buildFolder, `truth-table-${version}.json`);

const seconds = (ms: number): number => Math.round(ms / 1000);

/** The outcome of a row, in the page's terms. */
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

export function keepOutcome(file: string, outcome: Outcome): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(outcome, undefined, 2)}\n`);
}
