import { setTimeout } from "node:timers/promises";
import { CloudTrailClient, LookupEventsCommand } from "@aws-sdk/client-cloudtrail";
import { earlier } from "../../lambda/core/duration.ts";
import type { AwsConfig } from "../terminal/cluster-flags.ts";
import type { Archive } from "./archive.ts";
import { instanceEventsIn, recordsIn, watchedCalls } from "./cloudtrail-events.ts";

/** CloudTrail answers two look-ups a second, for the whole account. */
const pace = 550;

type LookUp = Readonly<{
  config: AwsConfig;
  cluster: string;
  archive: Archive;
  from: Date;
  to: Date;
  wait?: (milliseconds: number) => Promise<unknown>;
  /** What was read last, and the share of all that is to be read. */
  onRead: (soFar: Readonly<{ call: string; reached: Date; share: number }>) => void;
}>;

/** Reads what CloudTrail keeps of launches and ends into the archive, from the newest to the oldest. */
export async function lookUp(options: LookUp): Promise<void> {
  const { config, cluster, archive, from, to, wait = setTimeout, onRead } = options;
  // Others share this limit: a throttled look-up is retried with growing pauses.
  const client = new CloudTrailClient({ ...config, maxAttempts: 8, retryMode: "adaptive" });
  const gaps = watchedCalls.flatMap((call) => archive.gaps(call, from, to).map((gap) => ({ call, gap })));
  const all = gaps.reduce((sum, { gap }) => sum + (gap.to.getTime() - gap.from.getTime()), 0);
  let done = 0;
  for (const { call, gap } of gaps) {
    let NextToken: string | undefined;
    let unread = gap.to;
    do {
      const answer = await client.send(
        new LookupEventsCommand({
          LookupAttributes: [{ AttributeKey: "EventName", AttributeValue: call }],
          StartTime: gap.from,
          EndTime: gap.to,
          MaxResults: 50,
          ...(NextToken && { NextToken }),
        }),
      );
      NextToken = answer.NextToken;
      const entries = answer.Events ?? [];
      const events = recordsIn(JSON.stringify(entries)).flatMap((one) => instanceEventsIn(one, cluster));
      const oldest = entries.at(-1)?.EventTime;
      // Times are whole seconds: the next page may have more of the oldest second. An empty page has none.
      const next = oldest ? new Date(oldest.getTime() + 1_000) : unread;
      const reached = earlier(NextToken ? next : gap.from, unread);
      archive.keep({ call, from: reached, to: unread }, events);
      done += unread.getTime() - reached.getTime();
      unread = reached;
      onRead({ call, reached, share: done / all });
      await wait(pace);
    } while (NextToken);
  }
}
