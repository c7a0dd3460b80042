import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parseStatus, type StatusAnswer } from "../../cli/answers.ts";
import type { Ask } from "../../cli/control/client.ts";
import { findProbe } from "../../cli/doctor/checks/launch-path.ts";
import type { Doctor } from "../../cli/doctor/doctor.ts";
import { examine } from "../../cli/doctor/examine.ts";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { Environment } from "../../lambda/environment.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import {
  type Check,
  inSeconds,
  judged,
  judgedEmpty,
  notLookedAt,
  poll,
  type Seen,
  type Tools,
} from "./smoke.ts";

/** The row of whatever `doctor` finds. */
export const everyLink = "every link works";

/** Deploys the holder and inspects it. */
export const deployedChecks: readonly Check[] = [
  { assumption: "the stack deploys", expected: "complete", look: deploy },
  { assumption: everyLink, expected: "doctor finds nothing", look: inspect },
];

/** Lets it handle one launch. */
export const launchChecks: readonly Check[] = [
  {
    assumption: "a quiet queue delivers at once",
    expected: "a probe is answered within 3 s of being queued",
    look: probe,
  },
  { assumption: "a launch starts a hold", expected: "held, and nodes are marked", look: launch },
  {
    assumption: "the hold's one-shot releases its nodes",
    expected: "within two minutes after the hold's end",
    look: release,
  },
];

/** Also after a failure or Ctrl-C. */
export const destroyCheck: Check = {
  assumption: "the stack is destroyed",
  expected: "complete",
  look: async ({ cdk }) => {
    await cdk(["destroy", "--force"]);
    return judged(true, "complete");
  },
};

async function deploy({ cdk }: Tools): Promise<Seen> {
  const began = Date.now();
  await cdk(["deploy", "--require-approval", "never", "--progress", "events"]);
  return judged(true, `complete after ${inSeconds(Date.now() - began)}`);
}

/** New access entries and metrics take a while; what is still broken after that is broken. */
function inspect(tools: Tools): Promise<Seen> {
  return judgedEmpty(tools.smoke, { every: seconds(10), within: minutes(2) }, () => brokenLinks(tools));
}

async function brokenLinks({ smoke: { cluster }, account }: Tools): Promise<readonly string[]> {
  const doctor: Doctor = { cluster, account, clock: systemClock, sleep: (time) => sleep(time) };
  const findings = await examine(doctor, () => {});
  return findings.filter(({ verdict }) => verdict === "fail").map(({ link, what }) => `${link}: ${what}`);
}

async function probe({ smoke, account, ask }: Tools): Promise<Seen> {
  smoke.report("leaving the queue quiet for half a minute");
  await sleep(seconds(30), undefined, { signal: smoke.signal });
  const id = `smoke-${randomUUID()}`;
  const hold = await account.functionOf("hold");
  const queue = await account.queue(hold?.env[Environment.launchQueueUrl] ?? "");
  const rule = await account.ruleTo(queue?.arn ?? "");
  if (!rule) return judged(false, "no rule leads to the launch queue");
  await account.putProbe(id, new Date(), rule.pattern);
  const trip = await poll(smoke, { every: seconds(1), within: minutes(1) }, () => findProbe(ask, id));
  if (!trip) return judged(false, "no answer within a minute");
  const [toQueue, toAnswer] = [
    trip.queuedAt.getTime() - trip.sentAt.getTime(),
    trip.answeredAt.getTime() - trip.queuedAt.getTime(),
  ];
  const seen = `queued after ${inSeconds(toQueue)}, answered ${inSeconds(toAnswer)} later`;
  return judged(toAnswer <= seconds(3), seen);
}

async function launch({ smoke, ask, waitForLaunch }: Tools): Promise<Seen> {
  smoke.report("waiting for a launch: scale something up, so that Karpenter launches a node");
  const began = Date.now();
  const every = seconds(2);
  const held = await poll(smoke, { every, within: waitForLaunch }, () => holdNow(ask));
  if (!held) return judged(false, `no hold within ${inSeconds(waitForLaunch)}`);
  const after = inSeconds(Date.now() - began);
  smoke.report(`held after ${after}; waiting for the new nodes to join`);
  const joined = await poll(smoke, { every, within: minutes(5) }, async () => {
    const hold = await holdNow(ask);
    return hold === undefined || hold.nodesHeld > 0 ? { hold } : undefined;
  });
  if (!joined?.hold) return judged(false, `held after ${after}, but the new nodes were not marked`);
  const { nodesHeld } = joined.hold;
  return judged(
    true,
    `held after ${after}, ${nodesHeld} nodes marked after ${inSeconds(Date.now() - began)}`,
  );
}

async function release({ smoke, ask, view }: Tools): Promise<Seen> {
  let end = Date.now();
  const isReleased = await poll(smoke, { every: seconds(2), within: minutes(20) }, async () => {
    const hold = await holdNow(ask);
    if (!hold) return true;
    // Another launch may have extended it.
    if (hold.state === "held" && hold.until && hold.until.getTime() > end) {
      end = hold.until.getTime();
      smoke.report(`held until ${hold.until.toISOString()}`);
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

export const marksCheck: Check = {
  assumption: "no mark and no right stays in the cluster",
  expected: "nothing",
  look: async ({ view }) => {
    if (!view) return notLookedAt("it needs --kubeconfig");
    const left = [...(await view.marked()).map((node) => `mark on ${node}`), ...(await view.rights())];
    return judged(left.length === 0, left.join(", ") || "nothing");
  },
};

async function holdNow(ask: Ask): Promise<StatusAnswer["scopes"][number] | undefined> {
  const { scopes } = parseStatus(await ask({ do: "status" }));
  return scopes.find(({ state }) => state === "held" || state === "releasing");
}
