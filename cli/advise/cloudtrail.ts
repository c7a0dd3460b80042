import { setTimeout } from "node:timers/promises";
import { CloudTrailClient, LookupEventsCommand } from "@aws-sdk/client-cloudtrail";
import type { AwsConfig } from "../terminal/cluster-flags.ts";
import { instanceEventsIn, recordOf, watchedCalls } from "./cloudtrail-events.ts";
import type { InstanceEvent } from "./lives.ts";

/** CloudTrail answers two look-ups a second, for the whole account. */
const pace = 550;

type LookUp = Readonly<{
  config: AwsConfig;
  cluster: string;
  from: Date;
  to: Date;
  wait?: (milliseconds: number) => Promise<unknown>;
  /** What was read last, and the share of all that is to be read. */
  onRead: (soFar: Readonly<{ call: string; reached: Date; found: number; share: number }>) => void;
}>;

/** Asks once, so that who may not look up events, or cannot reach AWS, waits for nothing else first. */
export async function tryLookUp(config: AwsConfig): Promise<void> {
  try {
    await new CloudTrailClient(config).send(new LookupEventsCommand({ MaxResults: 1 }));
  } catch (error) {
    // Who is throttled may look up events.
    if (Object(error).name !== "ThrottlingException") throw error;
  }
}

/** Reads what CloudTrail has of launches and ends, from the newest to the oldest. */
export async function lookUp(options: LookUp): Promise<readonly InstanceEvent[]> {
  const { config, cluster, from, to, wait = setTimeout, onRead } = options;
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
      onRead({ call, reached, found: events.length, share: (n + done) / watchedCalls.length });
      await wait(pace);
    } while (NextToken);
  }
  return events;
}
