import { join } from "node:path";
import { buildFolder } from "../engines/build-once.ts";
import type { RowSeen } from "./launch-run.ts";

/** What the holder took the launches of one row for, and the reasons in Karpenter's events about them. */
export type LaunchOutcomeRow = Readonly<{
  what: string;
  kinds: readonly string[];
  reasons: readonly string[];
}>;

export type LaunchOutcome = Readonly<{
  karpenter: string;
  date: string;
  rows: readonly LaunchOutcomeRow[];
}>;

/** The suite's file with the outcome of a version of Karpenter. */
export const launchOutcomeFile = (version: string): string => join(buildFolder, `launches-${version}.json`);

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

/** The reason in "Launching NodeClaim: Underutilized"; version 1.0 adds more words after a slash. */
const reasonIn = (event: string): string => event.replace(/^.*: /, "").replace(/\/.*$/, "");

/** The outcome of all rows, in the page's terms. */
export function launchOutcomeOf(seen: readonly RowSeen[], karpenter: string): LaunchOutcome {
  const rows = seen.map(({ row: { what }, after }) => ({
    what,
    kinds: unique(after.map(({ kind }) => kind)),
    reasons: unique(after.flatMap(({ event }) => (event === undefined ? [] : reasonIn(event)))),
  }));
  return { karpenter, date: new Date(seen[0]?.causedAt ?? 0).toISOString().slice(0, 10), rows };
}
