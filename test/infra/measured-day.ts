import { randomUUID } from "node:crypto";
import { vi } from "vitest";
import { type Duration, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import type { MetricName } from "../../lambda/core/metrics.ts";
import { Telemetry } from "../../lambda/telemetry/powertools.ts";
import type { LogLine } from "../../simulator/collected-log.ts";
import type { FunctionName, Invocation } from "../../simulator/invocation.ts";
import { Scenario } from "../../simulator/scenario.ts";

type Day = Readonly<{
  launches: number;
  elsewhere: number;
  holds: number;
  nodes: number;
  joinsAfter: Duration;
}>;

type Invoked = {
  readonly name: FunctionName;
  readonly calls: string[];
  readonly lines: LogLine[];
  readonly metrics: Readonly<{ name: MetricName; value: number }>[];
};

export type MeasuredDay = Readonly<{
  invocations: number;
  messages: number;
  oneShots: number;
  reads: number;
  writes: number;
  logBytes: number;
}>;

const traceId = "Root=1-62e900b2-710d76f009d6e7785905449a;Parent=0efbd19962d95b05;Sampled=0";
/** What Lambda itself reports an invocation, in the form its documents show. */
const platformLines = ((record) => [
  JSON.stringify({
    time: "2026-01-31T09:30:00.123Z",
    type: "platform.start",
    record: { ...record, version: "$LATEST" },
  }),
  JSON.stringify({
    time: "2026-01-31T09:30:00.623Z",
    type: "platform.report",
    record: {
      ...record,
      metrics: {
        durationMs: 451.96,
        billedDurationMs: 452,
        memorySizeMB: 512,
        maxMemoryUsedMB: 128,
        initDurationMs: 312.55,
      },
      status: "success",
    },
  }),
])({
  requestId: randomUUID(),
  tracing: { spanId: "54565fb41ac79632", type: "X-Amzn-Trace-Id", value: traceId },
});
/** CloudWatch counts so much for each line beside its text. */
const bytesBesideALine = 26;

/** What stands behind a port's call; of Kubernetes what is left. */
const awsCalls: Readonly<Record<string, string>> = {
  find: "GetItem",
  all: "Query",
  scopes: "Query",
  write: "PutItem",
  remember: "PutItem",
  noteSweep: "PutItem",
  arm: "CreateSchedule",
  enqueue: "SendMessage",
};
const calledBy = (call: string): string =>
  awsCalls[call] ?? (call === "list" ? "Kubernetes GET" : "Kubernetes PATCH");

/** Lets the real handlers do a day's work in memory, and counts it; the log is what the real logger makes of it. */
export async function measuredDay(day: Day): Promise<MeasuredDay> {
  const world = new Scenario();
  for (let n = 0; n < day.nodes; n++) world.addNode(`ip-10-0-0-${n}.eu-central-1.compute.internal`);
  const reported = listen(world);
  for (let hold = 0; hold < day.holds; hold++) await playHold(world, day, hold);
  return {
    invocations: reported.size,
    messages: [...reported.keys()].reduce((sum, { messages }) => sum + messages.length, 0),
    oneShots: [...reported.values()].filter(({ name }) => name === "release").length,
    ...tableCalls(world),
    logBytes: await bytesOf([...reported.values()]),
  };
}

/** No whole minutes, so that the looks for one new node do not fall together with those for another. */
const apart = minutes(5) + seconds(7);

/** Each launch comes alone, some minutes after the one before. */
async function playHold(world: Scenario, day: Day, hold: number): Promise<void> {
  const share = (all: number) =>
    Math.floor((all * (hold + 1)) / day.holds) - Math.floor((all * hold) / day.holds);
  const [ours, elsewhere] = [share(day.launches), share(day.elsewhere)];
  const steps = Math.max(ours, elsewhere);
  for (let n = 0; n < steps; n++) {
    if (n < ours) world.launch({ joinsAfter: day.joinsAfter });
    await world.pass(seconds(1));
    if (n < elsewhere) world.launch({ pool: null, joinsAfter: null });
    await world.pass(apart - seconds(1));
  }
  await world.pass(hours(24) / day.holds - steps * apart);
}

/** How often the record was read and written. */
function tableCalls({ calls }: Scenario): { reads: number; writes: number } {
  const kinds = Map.groupBy(calls, (call) => awsCalls[call]);
  const count = (kind: string) => kinds.get(kind)?.length ?? 0;
  return { reads: count("GetItem") + count("Query"), writes: count("PutItem") };
}

/** Keeps for each invocation what it called and reported; they run one after the other. */
function listen(world: Scenario): ReadonlyMap<Invocation, Invoked> {
  const reported = new Map<Invocation, Invoked>();
  const { log, metrics } = world;
  world.watch = (invocation, call) => {
    const one = reported.get(invocation) ?? { name: invocation.name, calls: [], lines: [], metrics: [] };
    reported.set(invocation, one);
    if (call !== "") one.calls.push(calledBy(call));
    one.lines.push(...log.lines.splice(0));
    one.metrics.push(...metrics.values.splice(0));
  };
  return reported;
}

async function bytesOf(invocations: readonly Invoked[]): Promise<number> {
  let bytes = 0;
  const count = (line: string) => {
    bytes += Buffer.byteLength(line) + bytesBesideALine;
  };
  const telemetry = writeTo(count);
  try {
    for (const { calls, lines, metrics } of invocations) {
      platformLines.forEach(count);
      telemetry.begin(randomUUID());
      for (const { level, sentence, fields } of lines) telemetry.log[level](sentence, fields);
      for (const { name, value } of metrics) telemetry.metrics.add(name, value);
      for (const call of calls) await telemetry.calls.time(call, async () => {});
      telemetry.end();
    }
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
  return bytes;
}

/** The functions' own logger, as it is in Lambda, but heard by us. */
function writeTo(hear: (line: string) => void): Telemetry {
  vi.stubEnv("POWERTOOLS_DEV", "true");
  vi.stubEnv("POWERTOOLS_METRICS_DISABLED", "false");
  vi.stubEnv("_X_AMZN_TRACE_ID", traceId);
  for (const method of ["log", "info", "warn", "error"] as const)
    vi.spyOn(console, method).mockImplementation((line: string) => hear(JSON.stringify(JSON.parse(line))));
  return new Telemetry("a-cluster-with-a-long-name");
}
