import {
  type Figures,
  type Hold,
  noFigures,
  type PastHold,
  type Request,
  type ScopeRecord,
} from "../../lambda/core/record.ts";
import { poolScope } from "../../lambda/core/scope.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aHold, aPastHold, aRequest } from "../support/builders.ts";

const at = (time: string) => new Date(`2026-11-21T${time}Z`);
// `Required`: a field that is added to the types must be added here, too.
const hold: Required<Hold> = {
  ...aHold(),
  ended: { at: at("12:20:00.123"), because: "released by hand: “maintenance”" },
  watched: { nodes: { "node-1": { pods: 3 }, "node-2": {} }, gone: [at("12:40:00.000")] },
};
const request: Required<Request> = { ...aRequest(), releasedAt: at("12:18:00.789") };
const figures: Required<Figures> = {
  ...noFigures,
  launches: { default: 996, batch: 3 },
  extensions: 999,
  nodes: 12,
  capped: true,
  requests: ["a load test", "a deployment"],
  observed: { removed: 4, evicted: 9, uncounted: 1, nodeTime: 7_200_000, relaunched: 2 },
  superfluous: 3_600_000,
  letGo: 2,
  spared: 1,
  evictionsSpared: 4,
};
/** A past hold with every field. */
export const fullPast: Required<PastHold> = { ...aPastHold(), ...figures };
/** A record with every field. */
export const fullRecord: Required<Omit<ScopeRecord, "unreadable">> = {
  scope: poolScope("batch"),
  version: 0,
  hold,
  closedId: holdId(1),
  launchHold: { startedAt: at("11:59:58.123"), lastLaunchAt: at("12:17:00.000"), isConstant: true },
  requests: [request, aRequest({ name: "every weekday", cause: "window" })],
  quiet: {
    kind: "paused",
    since: at("12:20:00.456"),
    until: new Date("9999-12-31T00:00:00.000Z"),
    because: "on call: “every node is replaced”",
  },
  released: { at: at("12:19:00.789"), because: "maintenance", by: "7bf73129-1428-4cd3-a780-95db273d1602" },
  seen: { "i-1": at("12:18:00.123"), "i-2": at("12:18:01.456") },
  figures,
  account: {
    at: at("12:19:30.123"),
    nodes: 3,
    pods: 9,
    needed: 2,
    pauses: {
      open: [
        { since: at("12:10:00.000"), level: 1, pods: 4 },
        { since: at("12:10:00.000"), level: 3, pods: 0 },
        { since: at("12:15:00.000"), level: 0 },
      ],
      gone: 1,
      learned: [300_000, -240_000],
    },
    wasted: { "node-1": 90_000 },
    letGo: { "node-2": at("12:19:00.000") },
    leftAlone: { "node-3": at("13:00:00.000") },
  },
  looks: { oneShot: at("12:20:00.123"), message: at("12:19:30.123") },
};
