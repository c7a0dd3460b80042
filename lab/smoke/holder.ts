import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { commandLine } from "../../cli/command-line.ts";
import type { Ask } from "../../cli/control/client.ts";
import { deployedHolder } from "../../cli/control/control.ts";
import { type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import { probeDetailType, probeSource } from "../../lambda/handlers/event-sources.ts";
import type { Cdk } from "./cdk.ts";
import type { ClusterView, Scaling } from "./cluster-view.ts";
import { type Check, inSeconds, judged, judgedEmpty, poll, type Seen, type Smoke } from "./smoke.ts";

export type HolderOptions = Readonly<{
  cdk: Cdk;
  view: ClusterView | undefined;
  scaling: Scaling | undefined;
  waitForLaunch: Duration;
}>;

type Held = Readonly<{ state: string; nodesHeld: number; awaited: number; until: number }>;

/** Deploys the holder, inspects it, and lets it handle one launch, in this order. */
export function holderChecks(smoke: Smoke, options: HolderOptions): readonly Check[] {
  const { ask } = deployedHolder({ cluster: smoke.cluster, ...flagsOf(smoke) }, process.env);
  return [
    { assumption: "the stack deploys", expected: "complete", look: () => deploy(options) },
    { assumption: "every link works", expected: "doctor finds nothing", look: () => examine(smoke) },
    {
      assumption: "a quiet queue delivers at once",
      expected: "a probe is answered within 3 s of being queued",
      look: () => probe(smoke, ask),
    },
    {
      assumption: "a launch starts a hold",
      expected: "held, and no node left to wait for",
      look: () => launch(smoke, ask, options),
    },
    {
      assumption: "the hold's one-shot releases its nodes",
      expected: "within two minutes after the hold's end",
      look: () => release(smoke, ask, options),
    },
  ];
}

async function deploy({ cdk }: HolderOptions): Promise<Seen> {
  const began = Date.now();
  await cdk(["deploy", "--require-approval", "never", "--progress", "events"]);
  return judged(true, `complete after ${inSeconds(Date.now() - began)}`);
}

/** New access entries and metrics take a while; what is still broken after that is broken. */
const examine = (smoke: Smoke): Promise<Seen> =>
  judgedEmpty(smoke, { every: seconds(10), within: minutes(2) }, () => brokenLinks(smoke));

async function brokenLinks(smoke: Smoke): Promise<readonly string[]> {
  const lines: string[] = [];
  const terminal = {
    env: process.env,
    out: (line: string) => lines.push(line),
    notify: () => {},
    isWatched: false,
    style: (_: unknown, text: string) => text,
  };
  const { region, profile, endpointUrl } = flagsOf(smoke);
  const flags = Object.entries({ "--region": region, "--profile": profile, "--endpoint-url": endpointUrl });
  const words = flags.flatMap(([flag, value]) => (value ? [flag, value] : []));
  await commandLine(["doctor", "--cluster", smoke.cluster, "-o", "json", ...words], terminal);
  const findings: unknown = Object(JSON.parse(lines.join("\n"))).findings;
  return (Array.isArray(findings) ? findings.map(Object) : [])
    .filter(({ verdict }) => verdict === "fail")
    .map(({ link, what }) => `${link}: ${what}`);
}

async function probe(smoke: Smoke, ask: Ask): Promise<Seen> {
  smoke.report("leaving the queue quiet for half a minute");
  await sleep(seconds(30), undefined, { signal: smoke.signal });
  const id = `smoke-${randomUUID()}`;
  const Detail = JSON.stringify({ id, cluster: smoke.cluster, sentAt: new Date().toISOString() });
  const Entries = [{ Source: probeSource, DetailType: probeDetailType, Detail }];
  await new EventBridgeClient(smoke.aws).send(new PutEventsCommand({ Entries }));
  const trip = await poll(smoke, { every: seconds(1), within: minutes(1) }, async () => {
    const { probe } = Object(await ask({ do: "probe", id }));
    return probe ? Object(probe) : undefined;
  });
  if (!trip) return judged(false, "no answer within a minute");
  const [sent, queued, answered] = [trip.sentAt, trip.queuedAt, trip.answeredAt].map(Date.parse);
  if (sent === undefined || queued === undefined || answered === undefined)
    return judged(false, "an answer without times");
  const seen = `queued after ${inSeconds(queued - sent)}, answered ${inSeconds(answered - queued)} later`;
  return judged(answered - queued <= seconds(3), seen);
}

async function launch(smoke: Smoke, ask: Ask, options: HolderOptions): Promise<Seen> {
  const { view, scaling, waitForLaunch } = options;
  if (view && scaling) {
    const { namespace, deployment, replicas } = scaling;
    const before = await view.scale(scaling);
    smoke.report(`scaled ${namespace}/${deployment} from ${before} to ${replicas} replicas`);
    smoke.cleanup.add(`the scaling of ${namespace}/${deployment}`, () =>
      view.scale({ ...scaling, replicas: before }),
    );
  } else smoke.report("waiting for a launch: scale something up, so that Karpenter launches a node");
  const began = Date.now();
  const every = seconds(2);
  const held = await poll(smoke, { every, within: waitForLaunch }, async () => holdIn(await ask(status)));
  if (!held) return judged(false, `no hold within ${inSeconds(waitForLaunch)}`);
  const after = inSeconds(Date.now() - began);
  smoke.report(`held after ${after}; waiting for the new nodes to join`);
  const joined = await poll(smoke, { every, within: minutes(5) }, async () => {
    const hold = holdIn(await ask(status));
    return hold === undefined || (hold.awaited === 0 && hold.nodesHeld > 0) ? { hold } : undefined;
  });
  if (!joined?.hold) return judged(false, `held after ${after}, but the new nodes were not marked`);
  const { nodesHeld } = joined.hold;
  return judged(
    true,
    `held after ${after}, ${nodesHeld} nodes marked after ${inSeconds(Date.now() - began)}`,
  );
}

async function release(smoke: Smoke, ask: Ask, { view }: HolderOptions): Promise<Seen> {
  let end = Date.now();
  const isReleased = await poll(smoke, { every: seconds(2), within: minutes(20) }, async () => {
    const hold = holdIn(await ask(status));
    if (!hold) return true;
    // Another launch may have extended it.
    if (hold.state === "held" && hold.until > end) {
      end = hold.until;
      smoke.report(`held until ${new Date(end).toISOString()}`);
    }
    return undefined;
  });
  if (!isReleased) return judged(false, "still held after 20 minutes");
  const late = Date.now() - end;
  const marked = await view?.marked();
  const left = marked === undefined ? "" : `, ${marked.length} nodes still marked`;
  const isRight = late <= minutes(2) && (marked?.length ?? 0) === 0;
  return judged(isRight, `released ${inSeconds(Math.max(0, late))} after its end${left}`);
}

export const marksCheck = (view: ClusterView): Check => ({
  assumption: "no mark and no right stays in the cluster",
  expected: "nothing",
  look: async () => {
    const left = [...(await view.marked()).map((node) => `mark on ${node}`), ...(await view.rights())];
    return judged(left.length === 0, left.join(", ") || "nothing");
  },
});

const status = { do: "status" } as const;

function holdIn(answer: unknown): Held | undefined {
  const scopes: unknown = Object(answer).scopes;
  const holds = (Array.isArray(scopes) ? scopes.map(Object) : [])
    .filter(({ state }) => state === "held" || state === "releasing")
    .map(({ state, nodesHeld, awaited, until }) => ({
      state: String(state),
      nodesHeld: Number(nodesHeld),
      awaited: Number(awaited),
      until: Date.parse(String(until)),
    }));
  return holds[0];
}

const flagsOf = ({ aws, region }: Smoke) => ({
  region,
  ...(aws.profile && { profile: aws.profile }),
  ...(aws.endpoint && { endpointUrl: aws.endpoint }),
});
