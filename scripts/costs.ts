import { alarmNames } from "../infra/names.ts";
import { type Duration, hours, minutes, seconds } from "../lambda/core/duration.ts";
import { Metric } from "../lambda/core/metrics.ts";
import { markdownTable } from "./markdown-table.ts";
import { writeBlock } from "./page-block.ts";

/*
 * What the holder costs a month, from list prices and from how often each part is used. `npm run docs:costs` writes the
 * table into docs/deploying.md, and a test compares.
 */

/** US$, us-east-1, June 2025, without free tiers. */
const price = {
  lambdaGigabyteSecond: 0.0000133334,
  lambdaRequest: 0.2e-6,
  sqsRequest: 0.4e-6,
  scheduledInvocation: 1e-6,
  dynamoWrite: 0.625e-6,
  dynamoRead: 0.125e-6,
  logGigabyte: 0.5,
  metric: 0.3,
  alarm: 0.1,
  dashboard: 3,
  natGigabyte: 0.045,
};

export type Cluster = Readonly<{
  launchesADay: number;
  nodes: number;
  /** Of more than 10,000 a look comes less often. */
  pods: number;
  /** One, and three more in each minute in which Karpenter may take a node. */
  looksAMinute: number;
}>;

const memory = 0.5;
const days = 365 / 12;
/** A function has a third of the processor on which looks were measured. */
const slower = 3;
/** Of `npm run bench -- look`. */
const look = { secondsAPod: 11.8 / 50_000, bytesAPod: 430 };
/** Of any other invocation. */
const invocation = { seconds: 0.5, logBytes: 1_500, reads: 2, writes: 1 };
/** The record of a large cluster with `hold=auto` has some kilobytes. */
const writesOfALook = 4;
const checksOfANode = 12;
const emptyReceives = (5 * minutes(1)) / seconds(20);

/** What each part costs a month; launches hold all day, and as many instances start elsewhere in the account. */
export function costsOf({ launchesADay, pods, looksAMinute }: Cluster) {
  const aMonth = (every: Duration) => (hours(24) / every) * days;
  const [looks, sweeps] = [looksAMinute * aMonth(minutes(1)), aMonth(minutes(5))];
  const messages = launchesADay * (1 + checksOfANode + 1) * days;
  const readings = looks + sweeps;
  const secondsOfALook = invocation.seconds + pods * look.secondsAPod * slower;
  const lambda = (count: number, each: number) =>
    count * (each * memory * price.lambdaGigabyteSecond + price.lambdaRequest);
  const calls = messages + readings;
  return {
    lambda: lambda(messages, invocation.seconds),
    looks: lambda(readings, secondsOfALook),
    sqs: ((messages + looks) * 3 + emptyReceives * aMonth(minutes(1))) * price.sqsRequest,
    others:
      looks * price.scheduledInvocation +
      calls * invocation.reads * price.dynamoRead +
      (messages * invocation.writes + readings * writesOfALook) * price.dynamoWrite +
      ((calls * invocation.logBytes) / 1e9) * price.logGigabyte,
    cloudWatch: metrics * price.metric + alarms * price.alarm + price.dashboard,
    nat: ((readings * pods * look.bytesAPod) / 1e9) * price.natGigabyte,
  };
}

const metrics = Object.keys(Metric).length;
const alarms = alarmNames("any").length;

export const busyCluster: Cluster = { launchesADay: 5_000, nodes: 500, pods: 5_000, looksAMinute: 4 };
const smallCluster: Cluster = { launchesADay: 20, nodes: 10, pods: 100, looksAMinute: 1.2 };
const clusters: readonly Cluster[] = [
  smallCluster,
  busyCluster,
  { launchesADay: 10_000, nodes: 1_000, pods: 10_000, looksAMinute: 4 },
];

/** The table of the page. */
export function costsBlock(): string {
  const all = clusters.map(costsOf);
  const number = (count: number) => count.toLocaleString("en");
  const row = (what: string, of: (costs: ReturnType<typeof costsOf>) => number) => [
    what,
    ...all.map((costs) => of(costs).toFixed(2)),
  ];
  const heads = clusters.map(
    ({ launchesADay, nodes, pods }) =>
      `${number(launchesADay)} launches a day, ${number(nodes)} nodes, ${number(pods)} pods`,
  );
  const lines = [
    row("Lambda: launches", ({ lambda }) => lambda),
    row("Lambda: one to four looks a minute, and sweeps", ({ looks }) => looks),
    row("SQS", ({ sqs }) => sqs),
    row("Scheduler, DynamoDB, logs", ({ others }) => others),
    row(`CloudWatch: ${metrics} metrics, ${alarms} alarms, one dashboard`, ({ cloudWatch }) => cloudWatch),
    row("**Together**", totalOf).map((cell, i) => (i > 0 ? `**${cell}**` : cell)),
    row("with a NAT gateway: its bytes", ({ nat }) => nat),
  ];
  return markdownTable(["US$ a month", ...heads], lines, [1, 2, 3]);
}

/** Of a small cluster and of a busy one, in words. */
export const inWords = (): string => {
  const [least = 0, most = 0] = [smallCluster, busyCluster].map((one) => Math.round(totalOf(costsOf(one))));
  return `${least} to ${most} dollars a month`;
};

/** Without a NAT gateway, which only private clusters need. */
export const totalOf = ({ nat: _, ...costs }: ReturnType<typeof costsOf>): number =>
  Object.values(costs).reduce((sum, one) => sum + one, 0);

if (import.meta.main)
  writeBlock({ page: "deploying.md", command: "npm run docs:costs", block: costsBlock() });
