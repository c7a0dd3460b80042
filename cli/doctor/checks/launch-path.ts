import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { launchesAndProbes } from "../../../infra/event-pattern.ts";
import { documentLink } from "../../../infra/package-root.ts";
import { after, type Duration, seconds } from "../../../lambda/core/duration.ts";
import type { ProbeAnswer } from "../../../lambda/core/ports.ts";
import { Environment } from "../../../lambda/environment.ts";
import { probeAnswer } from "../../../lambda/schemas/holds.ts";
import { fields, optional } from "../../../lambda/schemas/parse.ts";
import { reading } from "../../answers.ts";
import type { Ask } from "../../control/client.ts";
import { probeKeyIn } from "../aws/launch-path.ts";
import { type Checks, type Facts, turnedOff } from "../doctor.ts";
import { type Found, fail, ok, orOk, readLog, warn } from "../finding.ts";

/** The largest burst is done sooner than this many launches have come together. */
const mostWaiting = 1_000;

/** The way of a launch: the rule on the bus, the queue, and what feeds the hold function. */
export const ofLaunchPath = {
  async queue({ env, queue, functions }) {
    const launches = await queue;
    if (!launches) return fail(`the launch queue ${env(Environment.launchQueueUrl)} is gone`);
    const what = `${launches.waiting} waiting, ${launches.inFlight} in flight`;
    if (launches.waiting < mostWaiting) return ok(what);
    return fail(`${what}: launches are not handled as fast as they come`, readLog(functions.hold.name));
  },
  async rule(facts) {
    const launches = await facts.rule;
    if (!launches) return fail("no rule on the default event bus leads to the launch queue");
    const { name, arn, isEnabled, pattern } = launches;
    if (!isEnabled) return turnedOff(facts, name, `${name} is disabled: launches do not reach the holder`);
    const [, , , region = "", account = ""] = arn.split(":");
    const source = { cluster: facts.holder, account, region, probeKey: probeKeyIn(pattern) };
    if (isDeepStrictEqual(pattern, launchesAndProbes(source))) return ok(name);
    return fail(`${name} does not match launches`);
  },
  async "queue policy"({ account, rule, queue }) {
    const [launches, from] = [await queue, await rule];
    if (!launches || !from) return [];
    if (letsSend(launches.policy, from.arn)) return ok("the bus may send to the queue");
    const what = "the launch queue's policy does not let the rule send: every launch is lost on its way";
    return fail(what, undefined, {
      action: "let the rule send to the launch queue again",
      apply: () => account.letRuleSend(launches, from.arn),
    });
  },
  async mapping({ account, queue, functions: { hold } }) {
    const launches = await queue;
    if (!launches) return [];
    const mapping = await account.mapping(hold.name, launches.arn);
    if (!mapping) return fail(`${hold.name} has no event source mapping for the queue`);
    const { id, state, lastResult } = mapping;
    if (!["Enabled", "Enabling", "Updating", "Creating"].includes(state)) {
      const remedy = `aws lambda update-event-source-mapping --uuid ${id} --enabled`;
      return fail(`the queue does not feed ${hold.name}: its mapping is ${state}`, remedy, {
        action: "enable the event source mapping",
        apply: () => account.enableMapping(id),
      });
    }
    if (/^(no records processed|ok|user action|)$/i.test(lastResult))
      return ok(`the queue feeds ${hold.name}`);
    return warn(
      `the last time that the queue fed ${hold.name} ended with: ${lastResult}`,
      readLog(hold.name),
    );
  },
  async "dead letters"({ account, rule, queue, functions }) {
    const launches = await queue;
    if (!launches) return [];
    const from = await rule.catch(() => undefined);
    const arns = Object.entries({
      launches: launches.deadLetterArn,
      ...(from && { events: from.deadLetterArn }),
      invocations: functions.release.failuresArn,
    });
    const found = await Promise.all(
      arns.map(async ([kind, arn]) => {
        const letters = arn ? await account.queue(arn) : undefined;
        if (!letters) return fail(`there is no dead-letter queue for ${kind}: those that fail vanish`);
        if (letters.waiting === 0) return false;
        const what = `${letters.waiting} ${kind} failed after all retries, in ${letters.url}`;
        const page = documentLink("operating.md#dead-letters");
        return warn(what, `See ${page}; empty the queue once you know why.`);
      }),
    );
    return orOk(found, "none");
  },
} satisfies Checks;

/** Whether a statement of a queue's policy lets EventBridge send: what this rule matches, or anything. */
const letsSend = (policy: unknown, ruleArn: string): boolean =>
  listOf(Object(policy).Statement)
    .map(Object)
    .some(({ Effect, Principal, Action, Condition }) => {
      const principals = [Principal, Object(Principal).AWS, Object(Principal).Service].flatMap(listOf);
      const tests = Object.values(Object(Condition)).map(Object);
      const sources = tests.flatMap((test) => listOf(test["aws:SourceArn"]));
      return (
        Effect === "Allow" &&
        principals.some((one) => one === "events.amazonaws.com" || one === "*") &&
        listOf(Action).some((action) => /^(sqs:(sendmessage|send\*|\*)|\*)$/i.test(String(action))) &&
        (sources.length === 0 || sources.includes(ruleArn))
      );
    });

const listOf = (value: unknown): readonly unknown[] => [value ?? []].flat();

const giveUpAfter: Duration = seconds(45);
const pause: Duration = seconds(1);

/**
 * A probe travels the whole way of a launch: bus, queue, function, record. It shows that something is broken, not what, so
 * it is sent only if every step of its way works.
 */
export async function checkProbe({ account, clock, sleep, functions, rule }: Facts): Promise<Found> {
  const id = `doctor-${randomUUID()}`;
  const sentAt = clock.now();
  await account.putProbe(id, sentAt, (await rule)?.pattern);
  while (clock.now() < after(sentAt, giveUpAfter)) {
    const trip = await findProbe((request) => account.invoke("control", request), id);
    if (trip) {
      // Each time by one clock: this machine's may differ from that of AWS.
      const [all, within] = [inSeconds(sentAt, clock.now()), inSeconds(trip.queuedAt, trip.answeredAt)];
      return ok(`came back after ${all}, of which ${within} from the queue to the function`);
    }
    await sleep(pause);
  }
  const what = `a probe put on the bus did not arrive within ${giveUpAfter / seconds(1)} s`;
  return fail(what, readLog(functions.hold.name));
}

const inSeconds = (from: Date, to: Date): string =>
  `${((to.getTime() - from.getTime()) / 1_000).toFixed(1)} s`;

const parseProbed = reading(fields({ probe: optional(probeAnswer) }));

/** A probe's way, once it has arrived. */
export const findProbe = async (ask: Ask, id: string): Promise<ProbeAnswer | undefined> =>
  parseProbed(await ask({ do: "probe", id })).probe;
