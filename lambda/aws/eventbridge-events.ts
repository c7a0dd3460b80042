import { Sha256 } from "@aws-crypto/sha256-js";
import type { EKSClient } from "@aws-sdk/client-eks";
import { SignatureV4 } from "@smithy/signature-v4";
import * as v from "valibot";
import { type Duration, seconds } from "../core/duration.ts";
import { detailOf, detailOfObserved, type HoldEvent, withChange } from "../core/events.ts";
import { holderName } from "../core/marks/keys.ts";
import type { ObservedWeek } from "../core/observed.ts";
import type { HoldEvents, Log, Metrics } from "../core/ports.ts";
import type { HoldChange } from "../core/record.ts";
import type { Rules } from "../core/rules.ts";
import { partitionOf } from "./partitions.ts";

export type EventBridgeEventsOptions = Readonly<{
  region: string;
  credentials: EKSClient["config"]["credentials"];
  rules: Rules;
  log: Log;
  metrics: Metrics;
  /** Notes how long a call takes. */
  time: <T>(name: string, call: () => Promise<T>) => Promise<T>;
  /** Instead of EventBridge's own address in the region. */
  endpoint?: string | undefined;
}>;

type Entry = Readonly<{ Source: string; DetailType: string; Detail: string }>;

/** EventBridge takes no more in a request: 256 KB, source and detail type included. */
const mostInARequest = 10;
const mostBytes = 255_000;
const tries = 2;
/** An invocation waits no longer for its events. */
const longestSend: Duration = seconds(3);

const answer = v.object({
  FailedEntryCount: v.number(),
  Entries: v.array(v.object({ ErrorCode: v.nullish(v.string()), ErrorMessage: v.nullish(v.string()) })),
});

/**
 * Puts events on the account's default event bus. The SDK's client would add 21 kB to each bundle for this one request,
 * so the request is signed here.
 */
export class EventBridgeEvents implements HoldEvents {
  readonly #options: EventBridgeEventsOptions;
  readonly #address: URL;
  readonly #signer: SignatureV4;
  #noted: readonly HoldEvent[] = [];
  #observed: readonly ObservedWeek[] = [];

  constructor(options: EventBridgeEventsOptions) {
    const { region, credentials, endpoint } = options;
    this.#options = options;
    this.#address = new URL(endpoint ?? `https://events.${region}.${partitionOf(region).dnsSuffix}`);
    this.#signer = new SignatureV4({ service: "events", region, credentials, sha256: Sha256 });
  }

  note(change: HoldChange): void {
    this.#noted = withChange(this.#noted, change);
  }

  noteObserved(week: ObservedWeek): void {
    this.#observed = [week];
  }

  /** Sends what was noted, and never fails: what fails twice, or takes too long, is logged, counted and dropped. */
  async send(within: Duration): Promise<void> {
    const { rules, time } = this.#options;
    const events = [
      ...this.#noted.map((event) => ({ type: event.type, detail: detailOf(event, rules) })),
      ...this.#observed.map((one) => ({ type: "Observed", detail: detailOfObserved(one, rules) })),
    ];
    this.#noted = [];
    this.#observed = [];
    const signal = AbortSignal.timeout(Math.max(0, Math.min(within, longestSend)));
    const entries = events.map(({ type, detail }) => ({
      Source: holderName,
      DetailType: type,
      Detail: JSON.stringify(detail),
    }));
    for (const some of inRequests(entries)) await time("PutEvents", () => this.#sendAll(some, signal));
  }

  async #sendAll(entries: readonly Entry[], signal: AbortSignal): Promise<void> {
    const { log, metrics } = this.#options;
    let left = entries;
    let error: unknown;
    for (let attempt = 1; attempt <= tries && left.length > 0; attempt++) {
      try {
        const refused = await this.#put(left, signal);
        [error] = refused.values();
        left = left.filter((_, i) => refused.has(i));
      } catch (failure) {
        error = failure;
      }
    }
    if (left.length === 0) return;
    const remedy = "allow this role events:PutEvents on the default event bus, or set events=false";
    log.error("events could not be sent", { events: left.map((entry) => entry.DetailType), error, remedy });
    metrics.add("EventsFailed", left.length);
  }

  /** Returns why each refused entry was refused, by its place. */
  async #put(Entries: readonly Entry[], signal: AbortSignal): Promise<ReadonlyMap<number, Error>> {
    const { protocol, host, hostname, pathname } = this.#address;
    const { headers, body } = await this.#signer.sign({
      method: "POST",
      protocol,
      hostname,
      path: pathname,
      headers: { host, "content-type": "application/x-amz-json-1.1", "x-amz-target": "AWSEvents.PutEvents" },
      body: JSON.stringify({ Entries }),
    });
    const response = await fetch(this.#address, { method: "POST", headers, body, signal, redirect: "error" });
    const text = await response.text();
    if (!response.ok) throw new Error(`EventBridge answered ${response.status}: ${text.slice(0, 500)}`);
    const { Entries: results } = v.parse(answer, JSON.parse(text));
    return new Map(
      results.flatMap(({ ErrorCode, ErrorMessage }, i) =>
        ErrorCode ? [[i, new Error(`${ErrorCode}: ${ErrorMessage ?? "no reason given"}`)]] : [],
      ),
    );
  }
}

function inRequests(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const requests: Entry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const more = Buffer.byteLength(Object.values(entry).join(""));
    const last = requests.at(-1);
    const isRoom = last && last.length < mostInARequest && bytes + more <= mostBytes;
    if (isRoom) last.push(entry);
    else requests.push([entry]);
    bytes = isRoom ? bytes + more : more;
  }
  return requests;
}
