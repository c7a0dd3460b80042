import { type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import type { Verdict } from "../../simulator/invocation.ts";
import fc from "../support/fast-check.ts";

/** Which settings a run has. */
export type Setting = Readonly<{
  scope: "cluster" | "nodepool";
  maxHold: Duration;
  breather: Duration;
  initialDelay: Duration;
  /** How many nodes there are from the beginning. */
  nodes: number;
  /** Whether the first of them carries a mark of a hold that is gone. */
  orphanedMark: boolean;
  /** Whether NodePool b is left out. */
  leftOut: boolean;
}>;

/** Something that happens. Numbers that choose among what is there are taken modulo how much there is. */
export type Command =
  | Readonly<{
      do: "launch";
      pool: number;
      joinsAfter: Duration | null;
      eventAfter: Duration | null;
      duplicatesAfter: readonly Duration[];
      knownAfter: Duration;
      userHeld: boolean;
      foreign: boolean;
    }>
  | (Readonly<{ do: "deliver"; first: number; count: number }> & Begun)
  | (Readonly<{ do: "fire"; which: number; early: boolean; isDuplicated: boolean }> & Begun)
  | (Readonly<{ do: "retry" }> & Begun)
  | (Readonly<{ do: "sweep" }> & Begun)
  | (Readonly<{ do: "ask"; request: unknown }> & Begun)
  | Readonly<{ do: "lose"; what: "schedule" | "message"; which: number }>
  | Readonly<{ do: "deploy"; change: Change }>
  | Readonly<{ do: "break"; what: Outage; which: number }>
  | Readonly<{ do: "repair" }>
  | Readonly<{ do: "step"; who: number; times: number }>
  | Readonly<{ do: "finish"; who: number }>
  | Readonly<{ do: "crash"; who: number }>
  | Readonly<{ do: "fault"; who: number; verdict: Verdict }>
  | Readonly<{ do: "pass"; time: Duration }>
  | Readonly<{ do: "user"; node: number; action: UserAction }>;

/** How an invocation begins: with a clock that is ahead or behind, and whether it is left to run to its end. */
type Begun = Readonly<{ skew: Duration; atOnce: boolean }>;

/** Other settings; functions that run already keep theirs. */
export type Change =
  | Readonly<{ scope: "cluster" | "nodepool" }>
  | Readonly<{ hold: Duration }>
  | Readonly<{ maxHold: Duration }>
  | Readonly<{ breather: Duration }>
  | Readonly<{ initialDelay: Duration }>
  | Readonly<{ leftOut: boolean }>;

/** What does not work until it is repaired: the patches of one node, or a service. */
export type Outage = "node" | "list" | "arm" | "enqueue" | "instances" | "remember";

export type UserAction = "annotate true" | "annotate false" | "unannotate" | "unlabel" | "never" | "delete";

/** No function's clock is off by more. */
export const mostSkew = seconds(4);

const index = fc.nat({ max: 7 });
const seldom = (probability: number) =>
  fc.nat({ max: 99 }).map((n) => n >= 100 - Math.round(probability * 100));
const among = (...choices: Duration[]) => fc.constantFrom(...choices);
const begun = {
  skew: among(0, 0, 0, mostSkew, -mostSkew, seconds(1)),
  atOnce: seldom(0.5).map((it) => !it),
};

const launch = fc.record({
  do: fc.constant("launch" as const),
  pool: fc.nat({ max: 1 }),
  joinsAfter: fc.constantFrom(0, seconds(20), minutes(1), minutes(4), minutes(15), null),
  eventAfter: fc.constantFrom(0, 0, 0, seconds(30), minutes(3), minutes(12), null),
  duplicatesAfter: fc.array(among(0, seconds(20), minutes(2), minutes(20)), { maxLength: 2 }),
  knownAfter: among(0, 0, 0, seconds(20)),
  userHeld: seldom(0.1),
  foreign: seldom(0.08),
});

const scopes = [undefined, undefined, "cluster", "nodepool/a", "nodepool/b"];
const request = fc.record({
  do: fc.constantFrom("hold", "hold", "release", "release", "pause", "resume"),
  for: fc.constantFrom("1m", "10m", "30m", "5h"),
  scope: fc.constantFrom(...scopes),
});
// A pause without end, but no hold of five hours.
const asked = request.map(({ do: action, for: time, scope }) => ({
  do: action,
  reason: "model",
  ...(scope !== undefined && { scope }),
  ...(action === "hold" && { for: time === "5h" ? "90m" : time }),
  ...(action === "pause" && time !== "5h" && { for: time }),
}));

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ scope: fc.constantFrom("cluster", "nodepool") }),
  fc.record({ hold: among(minutes(5), minutes(20), minutes(30)) }),
  fc.record({ maxHold: among(minutes(30), minutes(45), 0) }),
  fc.record({ breather: among(minutes(10), 0) }),
  fc.record({ initialDelay: among(0, minutes(1)) }),
  fc.record({ leftOut: fc.boolean() }),
);

const goodLaunch = launch.map((one) => ({
  ...one,
  joinsAfter: one.joinsAfter === minutes(15) ? seconds(90) : one.joinsAfter,
  eventAfter: one.eventAfter === 0 ? 0 : seconds(30),
}));
const deliver = {
  do: fc.constant("deliver" as const),
  first: index,
  count: fc.integer({ min: 1, max: 4 }),
  ...begun,
};
const stepping = fc.record({ do: fc.constant("step"), who: index, times: fc.integer({ min: 1, max: 9 }) });
const asking = fc.record({ do: fc.constant("ask"), request: asked, ...begun });
// No time at all means: to the moment when something falls due.
const goodTimes = among(0, 0, 0, seconds(1), minutes(1), minutes(5), minutes(15));

const good: [number, fc.Arbitrary<Command>][] = [
  [8, goodLaunch],
  [6, fc.record(deliver)],
  [
    5,
    fc.record({
      do: fc.constant("fire"),
      which: index,
      early: fc.constant(false),
      isDuplicated: fc.constant(false),
      ...begun,
    }),
  ],
  [2, asking],
  [10, stepping],
  [3, fc.record({ do: fc.constant("finish"), who: index })],
  [10, fc.record({ do: fc.constant("pass"), time: goodTimes })],
];

const weighted: [number, fc.Arbitrary<Command>][] = [
  [7, launch],
  [
    8,
    fc.record({ do: fc.constant("deliver"), first: index, count: fc.integer({ min: 1, max: 4 }), ...begun }),
  ],
  [
    5,
    fc.record({
      do: fc.constant("fire"),
      which: index,
      early: seldom(0.1),
      isDuplicated: seldom(0.15),
      ...begun,
    }),
  ],
  [1, fc.record({ do: fc.constant("retry"), ...begun })],
  [5, fc.record({ do: fc.constant("sweep"), ...begun })],
  [4, asking],
  [1, fc.record({ do: fc.constant("lose"), what: fc.constantFrom("schedule", "message"), which: index })],
  [3, fc.record({ do: fc.constant("deploy"), change })],
  [
    0.7,
    fc.record({
      do: fc.constant("break"),
      what: fc.constantFrom<Outage>(
        "node",
        "node",
        "node",
        "list",
        "arm",
        "enqueue",
        "instances",
        "remember",
      ),
      which: index,
    }),
  ],
  [0.5, fc.record({ do: fc.constant("repair") })],
  [14, stepping],
  [7, fc.record({ do: fc.constant("finish"), who: index })],
  [2, fc.record({ do: fc.constant("crash"), who: index })],
  [
    3,
    fc.record({
      do: fc.constant("fault"),
      who: index,
      verdict: fc.constantFrom<Verdict>("refused", "answer lost"),
    }),
  ],
  [
    10,
    fc.record({
      do: fc.constant("pass"),
      time: among(seconds(1), seconds(15), minutes(1), minutes(5), minutes(10), minutes(20)),
    }),
  ],
  [
    4,
    fc.record({
      do: fc.constant("user"),
      node: index,
      action: fc.constantFrom<UserAction>(
        "annotate true",
        "annotate false",
        "unannotate",
        "unlabel",
        "never",
        "delete",
      ),
    }),
  ],
];

const anyOf = (weighted: readonly [number, fc.Arbitrary<Command>][], most: number): fc.Arbitrary<Command[]> =>
  fc.array(fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight: weight * 10, arbitrary }))), {
    maxLength: most,
    size: "max",
  });

/** Whatever may happen. */
export const commands = (most: number): fc.Arbitrary<Command[]> => anyOf(weighted, most);

/** What happens on a good day: functions meet and clocks differ, but nothing fails or gets lost. */
export const goodCommands = (most: number): fc.Arbitrary<Command[]> => anyOf(good, most);

export const settings: fc.Arbitrary<Setting> = fc.record({
  scope: fc.constantFrom("cluster", "nodepool"),
  maxHold: among(minutes(45), minutes(30), 0),
  breather: among(minutes(10), 0),
  initialDelay: among(0, 0, 0, minutes(1)),
  nodes: fc.nat({ max: 3 }),
  orphanedMark: seldom(0.2),
  leftOut: seldom(0.1),
});
