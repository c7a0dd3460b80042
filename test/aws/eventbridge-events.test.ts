import { afterEach, expect, it } from "vitest";
import { EventBridgeEvents } from "../../lambda/aws/eventbridge-events.ts";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { nothingObserved } from "../../lambda/core/observed.ts";
import type { Request } from "../../lambda/core/record.ts";
import { CallTimes } from "../../lambda/telemetry/call-times.ts";
import { CollectedLog, CollectedMetrics } from "../../simulator/collected-log.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { VirtualClock } from "../../simulator/virtual-clock.ts";
import { aHold, aRecord, aRequest, someRules } from "../support/builders.ts";
import { type AwsAnswer, type FakeAws, fakeAws, json, jsonError } from "../support/fake-aws.ts";

type Entry = Readonly<{ Source: string; DetailType: string; Detail: string }>;
const entriesOf = (body: string): readonly Entry[] => JSON.parse(body).Entries;

let aws: FakeAws;
afterEach(() => aws.close());

const accepted = (entries: readonly Entry[]) =>
  json({ FailedEntryCount: 0, Entries: entries.map(() => ({ EventId: "e" })) });

type Answer = (entries: readonly Entry[], count: number) => AwsAnswer | "hang up" | Promise<AwsAnswer>;

/** Sends the starts of so many holds, each with these requests. */
async function send(
  holds: number,
  answer: Answer = accepted,
  within = 10_000,
  requests: readonly Request[] = [],
) {
  aws = await fakeAws(({ body }, count) => answer(entriesOf(body), count));
  const log = new CollectedLog();
  const metrics = new CollectedMetrics();
  const calls = new CallTimes(new VirtualClock());
  const time = <T>(name: string, call: () => Promise<T>) => calls.time(name, call);
  const { region, endpoint } = aws.client;
  const credentials = async () => aws.client.credentials;
  const events = new EventBridgeEvents({
    ...{ region, endpoint, credentials, log, metrics, time },
    rules: someRules(),
  });
  for (let n = 1; n <= holds; n++)
    events.note({ before: aRecord(), record: aRecord({ hold: aHold({ id: holdId(n) }), requests }) });
  await events.send(within);
  const sent = aws.requests.map(({ body }) => entriesOf(body).map(({ Detail }) => JSON.parse(Detail).holdId));
  return { events, log, sent, failed: metrics.total("EventsFailed"), calls: calls.reported().calls };
}

it("an event is put on the default bus in the holder's name, by a signed request, once", async () => {
  const { events, sent, calls } = await send(1);
  await events.send(10_000);
  expect([sent, aws.requests.length, calls.PutEvents?.count]).toEqual([[[holdId(1)]], 1, 1]);
  const { headers, body = "" } = aws.requests[0] ?? {};
  expect(headers).toMatchObject({
    "x-amz-target": "AWSEvents.PutEvents",
    "content-type": "application/x-amz-json-1.1",
    authorization: expect.stringMatching(/\/eu-west-1\/events\/aws4_request, SignedHeaders=.*host;.*x-amz-/),
  });
  expect(entriesOf(body)).toEqual([
    {
      Source: "karpenter-node-holder",
      DetailType: "Hold Started",
      Detail: expect.stringContaining('"cluster":"prod"'),
    },
  ]);
});

it("what was observed in a week is an event, too, with a sentence", async () => {
  const { events } = await send(0);
  const since = new Date("2026-11-21T12:00:00Z");
  const sum = { ...nothingObserved, holds: 2, nodes: 9, lasted: minutes(34), removed: 7, evicted: 41 };
  events.noteObserved({ since, until: after(since, hours(168)), ...sum });
  await events.send(10_000);
  await events.send(10_000);
  const sent = aws.requests.flatMap(({ body }) => entriesOf(body));
  expect(sent.map(({ DetailType }) => DetailType)).toEqual(["Observed"]);
  expect(JSON.parse(sent[0]?.Detail ?? "")).toMatchObject({
    ...{ version: 1, cluster: "prod", holds: 2, removed: 7, since: since.toISOString() },
    summary: expect.stringMatching(
      /^would have held 9 nodes at once for 34m in 2 holds; Karpenter removed 7 such nodes/,
    ),
  });
});

it("ten events go in one request, and nothing is sent where nothing happened", async () => {
  expect((await send(0)).sent).toEqual([]);
  await aws.close();
  expect((await send(11)).sent.map(({ length }) => length)).toEqual([10, 1]);
});

it("no request is larger than EventBridge takes", async () => {
  const reason = "🚀".repeat(1_000);
  const requests = Array.from({ length: 20 }, (_, n) => aRequest({ name: `deploy-${n}`, reason }));
  const { sent } = await send(4, accepted, 10_000, requests);
  expect(sent.map(({ length }) => length)).toEqual([3, 1]);
});

const both = [holdId(1), holdId(2)];
const denied = jsonError("AccessDeniedException", "not authorized to perform: events:PutEvents");
const refuse = (place: number) => (entries: readonly Entry[]) =>
  json({
    FailedEntryCount: 1,
    Entries: entries.map((_, i) => (i === place ? { ErrorCode: "Throttled" } : { EventId: "e" })),
  });
const busy = json({ FailedEntryCount: 2, Entries: [{ ErrorCode: "Busy" }, { ErrorCode: "Busy" }] });
/** Another answer to the first request. */
const firstly =
  (answer: Answer): Answer =>
  (entries, count) =>
    count === 1 ? answer(entries, count) : accepted(entries);
it.each<[what: string, answer: Answer, sent: string[][], failed: number, error?: RegExp]>([
  ["one event is refused", firstly(refuse(1)), [both, [holdId(2)]], 0],
  ["the connection is lost", firstly(() => "hang up"), [both, both], 0],
  ["the right is missing", () => denied, [both, both], 2, /events:PutEvents/],
  ["all are refused", () => busy, [both, both], 2, /Busy/],
  ["the answer is none", () => ({ body: "<html>" }), [both, both], 2, /JSON/],
])(
  "what failed is sent once more, then logged, counted and dropped: %s",
  async (_, answer, sent, failed, error) => {
    const result = await send(2, answer);
    expect([result.sent, result.failed]).toEqual([sent, failed]);
    const lines = result.log.reported("events could not be sent");
    expect(lines.map((line) => String(line.error))).toEqual(error ? [expect.stringMatching(error)] : []);
    await result.events.send(10_000);
    expect(aws.requests).toHaveLength(sent.length);
  },
);

it("an invocation does not wait for a bus that does not answer, nor where it has no time left", async () => {
  const never = new Promise<AwsAnswer>(() => {});
  for (const within of [50, 0, -1_000]) {
    const begun = performance.now();
    expect((await send(1, () => never, within)).failed).toBe(1);
    expect(performance.now() - begun).toBeLessThan(2_500);
    await aws.close();
  }
});
