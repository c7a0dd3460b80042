import { type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import fc from "../support/fast-check.ts";

/** The largest offset of a function's clock. */
export const mostSkew = seconds(60);
/** The largest one on a good day. */
export const goodSkew = seconds(2);

type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;
type ValuesOf<Fields> = { readonly [Name in keyof Fields]: ValueOf<Fields[Name]> };

const among = <const T>(...choices: T[]): fc.Arbitrary<T> => fc.constantFrom(...choices);
const index = fc.nat({ max: 99 });
const seldom = (percent: number) => fc.nat({ max: 99 }).map((n) => n >= 100 - percent);
const command = <Kind extends string, Fields extends object>(kind: Kind, fields: Fields) =>
  fc
    .record({ do: fc.constant(kind), ...fields } as object)
    .map((one) => one as Readonly<{ do: Kind }> & ValuesOf<Fields>);

/**
 * How an invocation begins: its clock's offset, how long each of its calls takes, and how far it runs at once: to its end,
 * to its list of nodes, so that the records it has read may be older, or nowhere.
 */
const begun = (most: Duration, ...paces: Duration[]) => ({
  skew: among(0, 0, 0, 0, seconds(1), most, -most),
  pace: among(0, ...paces),
  atOnce: among("all", "all", "all but the list", "nothing"),
});
export type Begun = ValuesOf<ReturnType<typeof begun>>;

const launch = {
  pool: fc.nat({ max: 1 }),
  count: among<number>(1, 1, 1, 1, 3),
  joinsAfter: among(0, seconds(20), minutes(1), minutes(4), minutes(14), null),
  eventAfter: among(0, 0, 0, seconds(30), minutes(3), minutes(12), null),
  duplicatesAfter: fc.array(among(0, seconds(20), minutes(2), minutes(20)), { maxLength: 2 }),
  knownAfter: among(0, 0, 0, seconds(20)),
  claimedAfter: among(0, 0, 0, seconds(1), seconds(30)),
  /** The NodePool's template has the user's annotation. */
  isUserHeld: seldom(10),
  /** No node of Karpenter. */
  isForeign: seldom(8),
};
const goodLaunch = {
  ...launch,
  joinsAfter: among(0, seconds(20), minutes(1), minutes(4), null),
  eventAfter: among(0, 0, seconds(30)),
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
/** A request of an event or a window, as the launch queue carries it; it began that long ago. */
const hold = fc.record({
  cause: among("event", "window"),
  name: names,
  for: among("5m", "30m", "3h"),
  scope,
  ago: among(0, 0, minutes(1), minutes(20)),
});

/** The settings that a deployment may change. */
const deployed = {
  scope: among("cluster", "nodepool"),
  mode: among("hold", "hold", "hold", "hold", "observe"),
  hold: among(minutes(20), minutes(20), minutes(5), minutes(40)),
  maxHold: among(minutes(45), minutes(30), 0),
  breather: among(minutes(10), minutes(2)),
  maxRequest: among(minutes(60), minutes(24 * 60)),
  initialDelay: among(0, 0, 0, minutes(1)),
  driftWait: among(0, 0, minutes(10)),
  /** Whether the settings leave out NodePool b. */
  leftOut: seldom(10),
};
export type Deployed = ValuesOf<typeof deployed>;
const change = fc.oneof(
  ...Object.entries(deployed).map(([name, value]) =>
    (value as fc.Arbitrary<unknown>).map((chosen) => ({ [name]: chosen }) as Partial<Deployed>),
  ),
);
/** Whether the cluster lets us list NodeClaims; "none": it has none. */
const claims = among("readable", "readable", "readable", "refused", "none");
export type Claims = ValueOf<typeof claims>;

/** The settings of a run, and the cluster at its start. */
export const settings = fc.record({
  ...deployed,
  karpenter: among("v1", "v1", "v1", "v1", "v1", "v1", "v1", "v1", "v1", "v0.31"),
  nodes: fc.oneof({ weight: 15, arbitrary: fc.nat({ max: 4 }) }, { weight: 1, arbitrary: among(60) }),
  /** Whether the first of them has the mark of a hold that no record names. */
  orphanedMark: seldom(20),
  claims: among("readable", "readable", "readable", "readable", "refused", "none"),
  /** `hold=auto`; only where NodeClaims can be read all the time, since it holds like a constant hold without them. */
  auto: among(false, false, true),
  /** Karpenter takes a node when nothing has changed on it for so long. */
  consolidateAfter: among(0, 0, minutes(20)),
  /** How many sizes nodes have: with two, every second one is twice as large. */
  sizes: among<number>(1, 2),
});
export type Setting = Readonly<ValueOf<typeof settings>>;

const goodDay = begun(goodSkew);
const anyDay = begun(mostSkew, 0, 0, 0, 300, seconds(2));
const deliver = { first: index, count: fc.integer({ min: 1, max: 4 }) };
const common = [
  [1.5, command("drift", { node: index })],
  [
    3,
    command("pods", {
      node: index,
      pods: among(
        ...(["none", "none", "movable", "loose", "loose", "fixed", "job", "job"] as const),
        ...(["pinned", "misjudged", "misjudged"] as const),
      ),
    }),
  ],
  [1, command("take", {})],
  [1, command("remove", { node: index, drainsFor: among(0, minutes(1)) })],
  [10, command("step", { who: index, times: fc.integer({ min: 1, max: 9 }), which: among(0, 0, 1, 2, 3) })],
  [5, command("finish", { who: index })],
] as const;

/** What fails, or is never answered, until it is repaired: a call, the patches of one node or of half of them, or the cluster. */
const outages = among(
  ...(["node", "node", "half", "cluster", "list", "claims", "claims", "pods"] as const),
  ...(["arm", "enqueue", "instances", "remember", "write"] as const),
);
const userAction = among("apply true", "annotate true", "annotate false", "unannotate", "unlabel", "never");
export type UserAction = ValueOf<typeof userAction>;

const all = [
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
  [4, command("user", { node: index, action: userAction })],
  [2, command("crash", { who: index })],
  [3, command("fault", { who: index, verdict: among("refused", "answer lost", "answer late") })],
  [10, command("pass", { time: among(700, seconds(15), minutes(1), minutes(5), minutes(10), minutes(20)) })],
] as const;

/** One step of a run. A number that selects an item is taken modulo the number of items. */
export type Command = ValueOf<(typeof all)[number][1]>;
export type Launch = Extract<Command, { do: "launch" }>;
/** A node that joins at once, and whose event comes at once and only once. */
export const plainLaunch: Launch = {
  ...{ do: "launch", pool: 0, count: 1, joinsAfter: 0, eventAfter: 0, duplicatesAfter: [], knownAfter: 0 },
  ...{ claimedAfter: 0, isUserHeld: false, isForeign: false },
};
type Weighted = readonly [weight: number, fc.Arbitrary<Command | readonly Command[]>];

const atOnce: Begun = { skew: 0, pace: 0, atOnce: "all" };
/** A launch holds to its cap, and a person pauses the scope in the breather that follows. */
const pauseInBreather = fc
  .record({ for: lengths, scope: among("cluster", "nodepool/a") })
  .map((about): readonly Command[] => [
    { do: "deploy", change: { hold: minutes(40), maxHold: minutes(30) } },
    plainLaunch,
    { do: "deliver", first: 0, count: 4, ...atOnce },
    { do: "pass", time: minutes(31) },
    { do: "fire", which: 0, isEarly: false, isDuplicated: false, ...atOnce },
    { do: "ask", request: { do: "pause", reason: "model", ...about }, ...atOnce },
  ]);

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

const anyOf = (weighted: readonly Weighted[], most: number): fc.Arbitrary<Command[]> =>
  fc
    .array(fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight: weight * 10, arbitrary }))), {
      maxLength: most,
      size: "max",
    })
    .map((drawn) => drawn.flat());

/** All commands. */
export const commands = (most: number): fc.Arbitrary<Command[]> =>
  anyOf([...all, [0.5, pauseInBreather]], most);

/** The commands of a run without faults. */
export const goodCommands = (most: number): fc.Arbitrary<Command[]> => anyOf(good, most);
