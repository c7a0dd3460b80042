import { type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import type { Verdict } from "../../simulator/invocation.ts";
import fc from "../support/fast-check.ts";
import {
  type Begun,
  type Claims,
  type Command,
  type Deployed,
  goodSkew,
  mostSkew,
  type Outage,
  type Pods,
  type Setting,
  type UserAction,
} from "./commands.ts";

const among = <T>(...choices: T[]) => fc.constantFrom(...choices);
const index = fc.nat({ max: 99 });
const seldom = (percent: number) => fc.nat({ max: 99 }).map((n) => n >= 100 - percent);
type Fields<Kind> = Omit<Extract<Command, { do: Kind }>, "do">;
const command = <Kind extends Command["do"]>(
  kind: Kind,
  fields: { [Name in keyof Fields<Kind>]: fc.Arbitrary<Fields<Kind>[Name]> },
): fc.Arbitrary<Command> =>
  fc.record({ do: fc.constant(kind), ...fields } as object).map((one) => one as Command);

const begun = (most: Duration, ...paces: Duration[]) => ({
  skew: among(0, 0, 0, 0, seconds(1), most, -most),
  pace: among(0, ...paces),
  atOnce: among<Begun["atOnce"]>("all", "all", "all but the list", "nothing"),
});

const launch = {
  pool: fc.nat({ max: 1 }),
  count: among(1, 1, 1, 1, 3),
  joinsAfter: among<Duration | null>(0, seconds(20), minutes(1), minutes(4), minutes(14), null),
  eventAfter: among<Duration | null>(0, 0, 0, seconds(30), minutes(3), minutes(12), null),
  duplicatesAfter: fc.array(among(0, seconds(20), minutes(2), minutes(20)), { maxLength: 2 }),
  knownAfter: among(0, 0, 0, seconds(20)),
  claimedAfter: among(0, 0, 0, seconds(1), seconds(30)),
  isUserHeld: seldom(10),
  isForeign: seldom(8),
};
const goodLaunch = {
  ...launch,
  joinsAfter: among<Duration | null>(0, seconds(20), minutes(1), minutes(4), null),
  eventAfter: among<Duration | null>(0, 0, seconds(30)),
  duplicatesAfter: fc.array(among(seconds(20), minutes(2)), { maxLength: 2 }),
};

const scope = among("cluster", "cluster", "nodepool/a", "nodepool/b");
const names = among("by-hand", "deploy", "night");
const lengths = among("2m", "10m", "30m", "90m");
const asked = { reason: fc.constant("model"), scope: fc.option(scope, { nil: undefined }) };
const request = fc.oneof(
  fc.record({ do: fc.constant("hold"), name: names, for: lengths, ...asked }),
  fc.record({ do: fc.constant("hold"), name: names, for: lengths, ...asked }),
  fc.record({ do: fc.constant("release"), name: fc.option(names, { nil: undefined }), ...asked }),
  fc.record({ do: fc.constant("pause"), for: fc.option(lengths, { nil: undefined }), ...asked }),
  fc.record({ do: fc.constant("resume"), scope: asked.scope }),
);
const hold = fc.record({
  cause: among<"event" | "window">("event", "window"),
  name: names,
  for: among("5m", "30m", "3h"),
  scope,
  ago: among(0, 0, minutes(1), minutes(20)),
});

const deployed = {
  scope: among<Deployed["scope"]>("cluster", "nodepool"),
  mode: among<Deployed["mode"]>("hold", "hold", "hold", "hold", "observe"),
  hold: among(minutes(20), minutes(20), minutes(5), minutes(40)),
  maxHold: among(minutes(45), minutes(30), 0),
  breather: among(minutes(10), minutes(2)),
  maxRequest: among(minutes(60), minutes(24 * 60)),
  initialDelay: among(0, 0, 0, minutes(1)),
  driftWait: among(0, 0, minutes(10)),
  leftOut: seldom(10),
};
const change = fc.oneof(
  ...Object.entries(deployed).map(([name, value]) =>
    (value as fc.Arbitrary<unknown>).map((chosen) => ({ [name]: chosen }) as Partial<Deployed>),
  ),
);
const claims = among<Claims>("readable", "readable", "readable", "refused", "none");

export const settings: fc.Arbitrary<Setting> = fc.record({
  ...deployed,
  karpenter: among("v1", "v1", "v1", "v1", "v1", "v1", "v1", "v1", "v1", "v0.31"),
  nodes: fc.oneof({ weight: 15, arbitrary: fc.nat({ max: 4 }) }, { weight: 1, arbitrary: among(60) }),
  orphanedMark: seldom(20),
  claims: among<Claims>("readable", "readable", "readable", "readable", "refused", "none"),
  auto: among(false, false, true),
  consolidateAfter: among(0, 0, minutes(20)),
});

type Weighted = readonly [weight: number, fc.Arbitrary<Command>];

const goodDay = begun(goodSkew);
const anyDay = begun(mostSkew, 0, 0, 0, 300, seconds(2));
const deliver = { first: index, count: fc.integer({ min: 1, max: 4 }) };
const common: readonly Weighted[] = [
  [1.5, command("drift", { node: index })],
  [3, command("pods", { node: index, pods: among<Pods>("none", "none", "movable", "fixed", "job", "job") })],
  [1, command("take", {})],
  [1, command("remove", { node: index, drainsFor: among(0, minutes(1)) })],
  [10, command("step", { who: index, times: fc.integer({ min: 1, max: 9 }), which: among(0, 0, 1, 2, 3) })],
  [5, command("finish", { who: index })],
];

/** Functions interleave and clocks differ a little, but nothing fails or is lost. */
const good: readonly Weighted[] = [
  ...common,
  [8, command("launch", goodLaunch)],
  [6, command("deliver", { ...deliver, ...goodDay })],
  [5, command("fire", { which: index, isEarly: among(false), isDuplicated: among(false), ...goodDay })],
  [3, command("ask", { request, ...goodDay })],
  [1, command("send", { hold, duplicatesAfter: fc.array(among(0, seconds(20)), { maxLength: 1 }) })],
  // Zero means: until the next event is due.
  [10, command("pass", { time: among(0, 0, 0, 700, minutes(1), minutes(5), minutes(15)) })],
];

const outages = among<Outage>(
  ...(["node", "node", "half", "cluster", "list", "claims", "claims", "pods"] as const),
  ...(["arm", "enqueue", "instances", "remember", "write"] as const),
);
const all: readonly Weighted[] = [
  ...common,
  [7, command("launch", launch)],
  [8, command("deliver", { ...deliver, ...anyDay })],
  [5, command("fire", { which: index, isEarly: seldom(30), isDuplicated: seldom(15), ...anyDay })],
  [1, command("retry", anyDay)],
  [5, command("sweep", anyDay)],
  [4, command("ask", { request, ...anyDay })],
  [1, command("again", { which: index })],
  [0.5, command("force", { saysWhen: among(true, false), ...anyDay })],
  [
    2,
    command("send", { hold, duplicatesAfter: fc.array(among(0, minutes(2), minutes(20)), { maxLength: 2 }) }),
  ],
  [1, command("lose", { what: among("one-shot", "message"), which: index })],
  [2, command("deploy", { change })],
  [1, command("break", { what: outages, which: index, hangs: seldom(30) })],
  [0.7, command("repair", {})],
  [0.3, command("spoil", { which: index })],
  [0.5, command("grant", { claims })],
  [
    4,
    command("user", {
      node: index,
      action: among<UserAction>(
        "apply true",
        "annotate true",
        "annotate false",
        "unannotate",
        "unlabel",
        "never",
      ),
    }),
  ],
  [2, command("crash", { who: index })],
  [3, command("fault", { who: index, verdict: among<Verdict>("refused", "answer lost", "answer late") })],
  [10, command("pass", { time: among(700, seconds(15), minutes(1), minutes(5), minutes(10), minutes(20)) })],
];

const anyOf = (weighted: readonly Weighted[], most: number): fc.Arbitrary<Command[]> =>
  fc.array(fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight: weight * 10, arbitrary }))), {
    maxLength: most,
    size: "max",
  });

/** All commands. */
export const commands = (most: number): fc.Arbitrary<Command[]> => anyOf(all, most);

/** The commands of a run without faults. */
export const goodCommands = (most: number): fc.Arbitrary<Command[]> => anyOf(good, most);
