import { type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import type { KarpenterGeneration } from "../../lambda/core/marks/keys.ts";
import type { Verdict } from "../../simulator/invocation.ts";
import fc from "../support/fast-check.ts";
import {
  annotations,
  type Change,
  type Command,
  mostSkew,
  type Outage,
  type Readable,
  type Setting,
  type UserAction,
} from "./commands.ts";

const readable = fc.constantFrom<Readable>("all", "all", "all", "all", "no pods", "no use", "none");
const auto = fc.constantFrom(minutes(10), minutes(40), minutes(3));
const letGo = fc.constantFrom("nothing", "empty");
const driftWait = fc.constantFrom(minutes(5), minutes(5), minutes(20), minutes(40), 0);
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
  replaces: fc.constantFrom(
    null,
    null,
    { namedAfter: 0 },
    { namedAfter: seconds(1) },
    { namedAfter: seconds(30) },
    { namedAfter: null },
  ),
  instanceAfter: among(0, 0, 0, seconds(1), seconds(30), minutes(5)),
});

const scopes = [undefined, undefined, "cluster", "nodepool/a", "nodepool/b"];
const request = fc.record({
  do: fc.constantFrom("hold", "hold", "release", "release", "pause", "resume"),
  for: fc.constantFrom("1m", "10m", "30m", "5h"),
  scope: fc.constantFrom(...scopes),
});
// A pause may have no end; a hold of five hours is refused.
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
  fc.record({ replacements: fc.constantFrom("ignore", "hold") }),
  fc.record({ extendOn: fc.constantFrom("use", "launches") }),
  fc.record({ letGo }),
  fc.record({ driftWait }),
  fc.record({ auto: fc.option(auto) }),
  fc.record({ karpenter: fc.constantFrom<KarpenterGeneration>("v1", "v0.31") }),
  fc.record({ holdAnnotation: fc.constantFrom(...annotations) }),
);

const goodLaunch = launch.map((one) => ({
  ...one,
  joinsAfter: one.joinsAfter === minutes(15) ? seconds(90) : one.joinsAfter,
  eventAfter: one.eventAfter === 0 ? 0 : seconds(30),
  replaces: one.replaces?.namedAfter ? { namedAfter: seconds(1) } : one.replaces,
  instanceAfter: Math.min(one.instanceAfter, seconds(1)),
}));
const use = fc.record({ do: fc.constant("use"), node: index });
const drift = fc.record({ do: fc.constant("drift"), node: index });
const deliver = {
  do: fc.constant("deliver" as const),
  first: index,
  count: fc.integer({ min: 1, max: 4 }),
  ...begun,
};
const stepping = fc.record({ do: fc.constant("step"), who: index, times: fc.integer({ min: 1, max: 9 }) });
const asking = fc.record({ do: fc.constant("ask"), request: asked, ...begun });
// Zero means: until the next event is due.
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
  [4, use],
  [1.5, drift],
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
  [
    1,
    fc.record({
      do: fc.constant("lose"),
      what: fc.constantFrom("schedule", "message", "event"),
      which: index,
    }),
  ],
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
        "events",
        "claims",
        "pods",
        "api",
      ),
      which: index,
    }),
  ],
  [0.4, fc.record({ do: fc.constant("spoil"), which: index })],
  [0.5, fc.record({ do: fc.constant("repair") })],
  [14, stepping],
  [4, use],
  [1.5, drift],
  [0.5, fc.record({ do: fc.constant("grant"), readable })],
  [7, fc.record({ do: fc.constant("finish"), who: index })],
  [2, fc.record({ do: fc.constant("crash"), who: index })],
  [
    3,
    fc.record({
      do: fc.constant("fault"),
      who: index,
      verdict: fc.constantFrom<Verdict>("refused", "answer lost", "answer late"),
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
        "annotate otherwise",
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

/** All commands. */
export const commands = (most: number): fc.Arbitrary<Command[]> => anyOf(weighted, most);

/** The commands of a run without faults: functions interleave and clocks differ, but nothing fails or is lost. */
export const goodCommands = (most: number): fc.Arbitrary<Command[]> => anyOf(good, most);

export const settings: fc.Arbitrary<Setting> = fc.record({
  scope: fc.constantFrom("cluster", "nodepool"),
  maxHold: among(minutes(45), minutes(30), 0),
  breather: among(minutes(10), 0),
  initialDelay: among(0, 0, 0, minutes(1)),
  nodes: fc.nat({ max: 3 }),
  orphanedMark: seldom(0.2),
  leftOut: seldom(0.1),
  replacements: fc.constantFrom("ignore", "ignore", "hold"),
  extendOn: fc.constantFrom("use", "use", "launches"),
  letGo,
  driftWait,
  claimed: fc.boolean(),
  auto: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 2, arbitrary: auto }),
  readable,
});
