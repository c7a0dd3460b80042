import { Metric } from "../lambda/core/metrics.ts";
import { markdownTable } from "./markdown-table.ts";
import { free, prices } from "./prices.ts";

/** What happens to a cluster in a day. */
export type Day = Readonly<{
  title: string;
  /** Nodes that Karpenter launches for this cluster. */
  launches: number;
  /** Instances that start elsewhere in the account and region: heard, looked up, left alone. */
  elsewhere: number;
  holds: number;
  nodes: number;
}>;

export const quiet: Day = {
  title: "Quiet: 20 launches a day",
  launches: 20,
  elsewhere: 20,
  holds: 8,
  nodes: 10,
};
const busy: Day = {
  title: "Busy: 5,000 launches a day",
  launches: 5_000,
  elsewhere: 5_000,
  holds: 10,
  nodes: 500,
};

// How the holder works, as counts; all on the high side. A test lets the handlers do a quiet day and compares.
export const assumed = {
  daysAMonth: 30,
  gigabytes: 0.5,
  sweepsADay: 288,
  /** Each launch comes alone, never in a batch, and its node is looked for as often as a look can be. */
  invocationsALaunch: 13,
  secondsAnInvocation: 0.5,
  /** A hold as long as its cap sees most of them fire early, or extends while it is used, and sets the next. */
  oneShotsAHold: 14,
  secondsANode: 0.01,
  /** Sent, received, deleted. */
  requestsAMessage: 3,
  /** Lambda asks an empty queue with five connections, every 20 seconds each. */
  idlePollsADay: 5 * 3 * 60 * 24,
  readsALaunch: 24,
  readsAOneShot: 4,
  readsAHold: 6,
  readsASweep: 5,
  writesALaunch: 2,
  writesAOneShot: 1,
  writesAHold: 4,
  /** With the lines of Lambda itself, and what CloudWatch counts beside a line's text. */
  kilobytesAnInvocation: 2.5,
  /** Three queues, four functions' errors, six metrics of our own. */
  metricsInAlarms: 13,
} as const;

/** What a day comes to. */
export function countsOf({ launches, elsewhere, holds }: Day) {
  const a = assumed;
  const messages = launches * a.invocationsALaunch + elsewhere;
  const oneShots = holds * a.oneShotsAHold;
  const invocations = messages + oneShots + a.sweepsADay;
  return {
    invocations,
    messages,
    oneShots,
    reads:
      launches * a.readsALaunch +
      oneShots * a.readsAOneShot +
      holds * a.readsAHold +
      a.sweepsADay * a.readsASweep,
    writes: launches * a.writesALaunch + oneShots * a.writesAOneShot + holds * a.writesAHold + a.sweepsADay,
    logBytes: invocations * a.kilobytesAnInvocation * 1_000,
  };
}

type Line = Readonly<{ what: string; count: string; dollars: number }>;

function linesOf(day: Day): readonly Line[] {
  const a = assumed;
  const month = (daily: number) => daily * a.daysAMonth;
  const daily = countsOf(day);
  const invocations = month(daily.invocations);
  const nodeSeconds = month((day.holds * 2 + a.sweepsADay) * day.nodes * a.secondsANode);
  const seconds = invocations * a.secondsAnInvocation + nodeSeconds;
  const requests = month(daily.messages * a.requestsAMessage + a.idlePollsADay);
  const oneShots = month(daily.oneShots);
  const writes = month(daily.writes);
  const reads = month(daily.reads);
  const gigabytes = month(daily.logBytes) / 1e9;
  const metrics = Object.keys(Metric).length;
  const lambda = seconds * a.gigabytes * prices.lambdaGigabyteSecondArm + invocations * prices.lambdaRequest;
  return [
    { what: "Lambda", count: `${whole(invocations)} invocations, ${whole(seconds)} s`, dollars: lambda },
    { what: "SQS", count: `${whole(requests)} requests`, dollars: requests * prices.sqsRequest },
    {
      what: "Scheduler",
      count: `${whole(oneShots)} one-shots`,
      dollars: oneShots * prices.schedulerInvocation,
    },
    {
      what: "DynamoDB",
      count: `${whole(writes)} writes, ${whole(reads)} reads`,
      dollars: writes * prices.dynamoWrite + reads * prices.dynamoRead,
    },
    { what: "Logs", count: `${gigabytes.toFixed(2)} GB`, dollars: gigabytes * prices.logGigabyte },
    { what: "Metrics", count: `${metrics} of our own`, dollars: metrics * prices.customMetric },
    {
      what: "Alarms",
      count: `${a.metricsInAlarms} metrics watched`,
      dollars: a.metricsInAlarms * prices.alarmMetric,
    },
    { what: "Dashboard", count: "1", dollars: prices.dashboard },
  ];
}

/** The cost page, worked out from counts and list prices. */
export function costPage(): string {
  return [
    "# What it costs",
    "",
    `Worked out by \`npm run cost\` from the counts below and from list prices of us-east-1 as of ${prices.asOf}, typed in by hand, ` +
      "without free tiers. Check the prices of your region before you rely on a figure. " +
      `Not in the tables: ${free}. Endpoints of a VPC, if you need them, cost more than all of this.`,
    "",
    "**What a hold really costs are nodes that stay longer.** [The churn lab](churn.md) counted that for one workload; " +
      "`advise --prices` works it out from your own history before you deploy.",
    "",
    ...[quiet, busy].flatMap(section),
    "## Counts assumed",
    "",
    "All on the high side, and held against a day of the real handlers by `test/infra/cost.test.ts`: each launch comes alone, never in a batch; " +
      `its node is looked for ${assumed.invocationsALaunch - 1} times, which takes ten minutes; ` +
      `a hold takes ${assumed.oneShotsAHold} one-shots; an invocation logs ${assumed.kilobytesAnInvocation} kB; ` +
      "a sweep every five minutes. Not measured there: " +
      `functions have ${assumed.gigabytes} GB and take ${assumed.secondsAnInvocation} s, and ${assumed.secondsANode} s a node where all nodes are listed or marked; ` +
      "as many instances start elsewhere in the account as Karpenter launches.",
    "",
    "## Costs less",
    "",
    "The fixed part is CloudWatch's: custom metrics, alarms and dashboard. CloudWatch's free tier (10 metrics, 10 alarms, 3 dashboards) " +
      "covers most of it in a small account. A longer `sweepEvery` saves little.",
    "",
  ].join("\n");
}

function section(day: Day): string[] {
  const lines = linesOf(day);
  const total = lines.reduce((sum, { dollars }) => sum + dollars, 0);
  return [
    `## ${day.title}`,
    "",
    `${whole(day.holds)} holds a day, ${whole(day.nodes)} nodes.`,
    "",
    markdownTable(
      ["", "A month", "US$"],
      [
        ...lines.map(({ what, count, dollars }) => [what, count, dollars.toFixed(2)]),
        ["**Together**", "", `**${total.toFixed(2)}**`],
      ],
      [2],
    ),
    "",
  ];
}

const whole = (count: number): string => Math.round(count).toLocaleString("en-US");
