import { Metric } from "../lambda/core/metrics.ts";
import { free, prices } from "./prices.ts";

/** What happens to a cluster in a day. */
type Day = Readonly<{
  title: string;
  /** Nodes that Karpenter launches for this cluster. */
  launches: number;
  /** Instances that start elsewhere in the account and region: heard, looked up, left alone. */
  elsewhere: number;
  holds: number;
  nodes: number;
}>;

const days: readonly Day[] = [
  { title: "Quiet: 20 launches a day", launches: 20, elsewhere: 20, holds: 8, nodes: 10 },
  { title: "Busy: 5,000 launches a day", launches: 5_000, elsewhere: 5_000, holds: 10, nodes: 500 },
];

// How the holder works, as counts; all on the high side.
const assumed = {
  daysAMonth: 30,
  gigabytes: 0.5,
  sweepsADay: 288,
  /** Each launch comes alone, never in a batch, and its node is looked for three times until it joins. */
  invocationsALaunch: 4,
  secondsAnInvocation: 0.5,
  /** A release takes two: one to see that the hold was extended, one to do it. */
  invocationsAHold: 2,
  secondsANode: 0.01,
  /** Sent, received, deleted. */
  requestsAMessage: 3,
  /** Lambda asks an empty queue with five connections, every 20 seconds each. */
  idlePollsADay: 5 * 3 * 60 * 24,
  writesALaunch: 2,
  readsALaunch: 4,
  readsASweep: 4,
  kilobytesAnInvocation: 3,
  /** Three queues, four functions' errors, six metrics of our own. */
  metricsInAlarms: 13,
} as const;

type Line = Readonly<{ what: string; count: string; dollars: number }>;

function linesOf(day: Day): readonly Line[] {
  const a = assumed;
  const month = (daily: number) => daily * a.daysAMonth;
  const messages = day.launches * a.invocationsALaunch + day.elsewhere;
  const releases = day.holds * a.invocationsAHold;
  const invocations = month(messages + releases + a.sweepsADay);
  const nodeSeconds = month((day.holds * 2 + a.sweepsADay) * day.nodes * a.secondsANode);
  const seconds = invocations * a.secondsAnInvocation + nodeSeconds;
  const requests = month(messages * a.requestsAMessage + a.idlePollsADay);
  const writes = month(day.launches * a.writesALaunch + releases * 2 + a.sweepsADay);
  const reads = month(day.launches * a.readsALaunch + releases * 2 + a.sweepsADay * a.readsASweep);
  const gigabytes = (invocations * a.kilobytesAnInvocation) / 1e6;
  const metrics = Object.keys(Metric).length;
  const lambda = seconds * a.gigabytes * prices.lambdaGigabyteSecondArm + invocations * prices.lambdaRequest;
  return [
    { what: "Lambda", count: `${whole(invocations)} invocations, ${whole(seconds)} s`, dollars: lambda },
    { what: "SQS", count: `${whole(requests)} requests`, dollars: requests * prices.sqsRequest },
    {
      what: "Scheduler",
      count: `${whole(month(releases))} one-shots`,
      dollars: month(releases) * prices.schedulerInvocation,
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
    ...days.flatMap(section),
    "## Counts assumed",
    "",
    "All on the high side: each launch comes alone, never in a batch; its node is looked for three times until it joins; " +
      `functions have ${assumed.gigabytes} GB and take ${assumed.secondsAnInvocation} s, and ${assumed.secondsANode} s a node where all nodes are listed or marked; ` +
      "a sweep every five minutes; as many instances start elsewhere in the account as Karpenter launches.",
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
    ...table([
      ["", "A month", "US$"],
      ...lines.map(({ what, count, dollars }) => [what, count, dollars.toFixed(2)]),
      ["**Together**", "", `**${total.toFixed(2)}**`],
    ]),
    "",
  ];
}

const whole = (count: number): string => Math.round(count).toLocaleString("en-US");

/** A Markdown table as the formatter wants it: cells of one width, figures to the right. */
function table(rows: readonly string[][]): string[] {
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (column === 2 ? row[column]?.padStart(width) : row[column]?.padEnd(width))).join(" | ")} |`;
  const rule = widths.map((width, column) =>
    column === 2 ? `${"-".repeat(width - 1)}:` : "-".repeat(width),
  );
  const [head = [], ...body] = rows;
  return [head, rule, ...body].map(line);
}
