import type { TimelineEvent } from "../../report/timeline/events.ts";

/** So many seconds after the beginning of every test's time. */
export const at = (seconds: number): Date => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000);

const ofNode =
  (kind: "node joined" | "node gone") =>
  (node: string, seconds: number): TimelineEvent => ({ kind, node, nodePool: "default", at: at(seconds) });
export const joined = ofNode("node joined");
export const gone = ofNode("node gone");

const ofMark =
  (kind: "node marked" | "node released") =>
  (node: string, holdId: string, seconds: number): TimelineEvent => ({ kind, node, holdId, at: at(seconds) });
export const marked = ofMark("node marked");
export const released = ofMark("node released");

export const holdStarted = (holdId: string, seconds: number, until: number): TimelineEvent => ({
  kind: "hold started",
  scope: "cluster",
  holdId,
  until: at(until),
  because: "a launch",
  at: at(seconds),
});

export const holdExtended = (holdId: string, seconds: number, until: number): TimelineEvent => ({
  kind: "hold extended",
  scope: "cluster",
  holdId,
  until: at(until),
  at: at(seconds),
});

export const holdEnded = (holdId: string, seconds: number): TimelineEvent => ({
  kind: "hold ended",
  scope: "cluster",
  holdId,
  because: "the hold expired",
  at: at(seconds),
});

export const evicted = (pod: string, node: string, seconds: number): TimelineEvent => ({
  kind: "pod evicted",
  pod,
  node,
  at: at(seconds),
});
