import { setTimeout } from "node:timers/promises";
import { CloudTrailClient, LookupEventsCommand } from "@aws-sdk/client-cloudtrail";
import { after, type Duration, earlier, later, minutes, seconds } from "../../lambda/core/duration.ts";
import { explainAwsError } from "../aws-errors.ts";
import { type AwsConfig, type AwsFlags, awsConfig, withTimeLimits } from "../terminal/cluster-flags.ts";
import { Failure } from "../terminal/failure.ts";
import { Progress, type Task } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { about } from "../terminal/text.ts";
import { exportedEvents, instanceEventsIn, recordOf, watchedCalls } from "./cloudtrail-events.ts";
import { fromCloudTrail } from "./happened.ts";
import type { Account } from "./history.ts";
import { type InstanceEvent, isLaunch } from "./lives.ts";

type CloudTrailFlags = AwsFlags & Readonly<{ cluster: string; since: Duration; from?: readonly string[] }>;

/** What CloudTrail has of a cluster's nodes: of exported records at once, of AWS when it is called. What fails, fails at once. */
export async function openCloudTrail(
  flags: CloudTrailFlags,
  terminal: Terminal,
): Promise<() => Promise<Account>> {
  const { from, cluster, since } = flags;
  const unlessEmpty = (events: readonly InstanceEvent[]) => {
    if (events.some(isLaunch)) return events;
    throw new Failure(
      `no launch of a Karpenter node of cluster ${cluster} was found`,
      from
        ? "Does the export contain CreateFleet, RunInstances and TerminateInstances, and is it of this cluster?"
        : "Check --cluster and --region, or look back further with --since.",
    );
  };
  if (from) {
    const events = unlessEmpty(exportedEvents(from, cluster));
    const times = events.map(({ at }) => at);
    const account = { ...fromCloudTrail(events, times.reduce(earlier)), until: times.reduce(later) };
    return async () => account;
  }
  const config = withTimeLimits(awsConfig(flags, terminal.env), seconds(20));
  await tryLookUp(config).catch(explain);
  return async () => {
    const progress = new Progress(1, terminal);
    const { advance } = progress.begin("CloudTrail");
    const now = new Date();
    const begin = after(now, -since);
    // The newest quarter of an hour is not in CloudTrail yet.
    const time = { from: begin, to: after(now, -minutes(15)) };
    const events = await lookUp({ config, cluster, ...time, advance })
      .catch(explain)
      .finally(() => progress.stop());
    return fromCloudTrail(unlessEmpty(events), begin);
  };
}

const explain = (error: unknown): never => {
  throw explainAwsError(error, "look up CloudTrail events");
};

/** Asks once, so that who may not look up events, or cannot reach AWS, waits for nothing else first. */
async function tryLookUp(config: AwsConfig): Promise<void> {
  try {
    await new CloudTrailClient(config).send(new LookupEventsCommand({ MaxResults: 1 }));
  } catch (error) {
    // Who is throttled may look up events.
    if (Object(error).name !== "ThrottlingException") throw error;
  }
}

/** CloudTrail answers two look-ups a second, for the whole account. */
const pace = 550;

type LookUp = Readonly<{
  config: AwsConfig;
  cluster: string;
  from: Date;
  to: Date;
  wait?: (milliseconds: number) => Promise<unknown>;
  advance: Task["advance"];
}>;

/** Reads what CloudTrail has of launches and ends, from the newest to the oldest. */
export async function lookUp(options: LookUp): Promise<readonly InstanceEvent[]> {
  const { config, cluster, from, to, wait = setTimeout, advance } = options;
  // Others share this limit: a throttled look-up is retried with growing pauses.
  const client = new CloudTrailClient({ ...config, maxAttempts: 8, retryMode: "adaptive" });
  const events: InstanceEvent[] = [];
  for (const [n, call] of watchedCalls.entries()) {
    let NextToken: string | undefined;
    let reached = to;
    do {
      const answer = await client.send(
        new LookupEventsCommand({
          LookupAttributes: [{ AttributeKey: "EventName", AttributeValue: call }],
          StartTime: from,
          EndTime: to,
          MaxResults: 50,
          ...(NextToken && { NextToken }),
        }),
      );
      NextToken = answer.NextToken;
      const entries = answer.Events ?? [];
      events.push(...entries.flatMap((one) => instanceEventsIn(recordOf(one), cluster)));
      // An empty page is not the end while there is another one.
      reached = NextToken ? (entries.at(-1)?.EventTime ?? reached) : from;
      const done = (to.getTime() - reached.getTime()) / (to.getTime() - from.getTime());
      const back = about(Date.now() - reached.getTime());
      const now = `${call} read back to ${back} ago, ${events.length} events of this cluster so far`;
      advance((n + done) / watchedCalls.length, now);
      await wait(pace);
    } while (NextToken);
  }
  return events;
}
