import { CloudTrailClient, LookupEventsCommand } from "@aws-sdk/client-cloudtrail";
import { earlier } from "../../lambda/core/duration.ts";
import type { AwsConfig } from "../terminal/cluster-flags.ts";
import type { Archive } from "./archive.ts";
import { instanceEventsIn, recordsIn, watchedCalls } from "./cloudtrail-events.ts";

/** CloudTrail answers two look-ups a second, for the whole account. */
const pace = 550;

/** What was read last, and the share of all that is to be read. */
export type ReadSoFar = Readonly<{ call: string; reached: Date; events: number; share: number }>;
type OnRead = (soFar: ReadSoFar) => void;
type Gap = Readonly<{ from: Date; to: Date }>;
type Wait = (milliseconds: number) => Promise<void>;

/** Reads what CloudTrail keeps of launches and ends into the archive, from the newest to the oldest. */
export class CloudTrailReader {
  readonly #client: CloudTrailClient;
  readonly #cluster: string;
  readonly #wait: Wait;

  constructor(
    config: AwsConfig,
    cluster: string,
    wait: Wait = (ms) => new Promise((done) => setTimeout(done, ms)),
  ) {
    // Others share this limit: a throttled look-up is retried with growing pauses.
    this.#client = new CloudTrailClient({ ...config, maxAttempts: 8, retryMode: "adaptive" });
    this.#cluster = cluster;
    this.#wait = wait;
  }

  async read(archive: Archive, from: Date, to: Date, onRead: OnRead): Promise<void> {
    const gaps = watchedCalls.flatMap((call) =>
      archive.gaps(call, from, to).map((gap) => ({ call, gap, length: lengthOf(gap) })),
    );
    const all = gaps.reduce((sum, { length }) => sum + length, 0);
    let done = 0;
    for (const { call, gap, length } of gaps) {
      await this.#readGap(archive, call, gap, (reached) => {
        const share = (done + lengthOf({ from: reached, to: gap.to })) / all;
        onRead({ call, reached, events: archive.events.length, share });
      });
      done += length;
    }
  }

  async #readGap(archive: Archive, call: string, gap: Gap, onRead: (reached: Date) => void): Promise<void> {
    let NextToken: string | undefined;
    let unread = gap.to;
    do {
      const answer = await this.#client.send(
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
      const events = recordsIn(JSON.stringify(entries)).flatMap((one) =>
        instanceEventsIn(one, this.#cluster),
      );
      const oldest = entries.at(-1)?.EventTime;
      // Times are whole seconds: the next page may have more of the oldest second. An empty page has none.
      const next = oldest ? new Date(oldest.getTime() + 1_000) : unread;
      const reached = NextToken ? next : gap.from;
      const from = earlier(reached, unread);
      archive.keep({ call, from, to: unread }, events);
      unread = from;
      onRead(unread);
      await this.#wait(pace);
    } while (NextToken);
  }
}

const lengthOf = ({ from, to }: Gap): number => to.getTime() - from.getTime();
