import { isDeepStrictEqual } from "node:util";
import { launchesAndProbes } from "../../../lambda/handlers/event-sources.ts";
import { documentLink } from "../../../lambda/package-root.ts";
import type { QueueFacts, RuleFacts } from "../aws/account.ts";
import { probeKeyIn } from "../aws/launch-path.ts";
import { type Doctor, redeploy } from "../doctor.ts";
import type { Seen } from "../examination.ts";
import { type Findings, type Found, fail, ok, warn } from "../finding.ts";

/** The rule for launches exists, is enabled, and matches launches. */
export async function checkRule(doctor: Doctor): Promise<Seen<RuleFacts>> {
  const rule = await doctor.account.launchRule();
  if (!rule) {
    const what = "no rule on the default event bus matches launches";
    return { findings: fail(what, redeploy(doctor)) };
  }
  return { findings: judgeRule(doctor, rule), facts: rule };
}

function judgeRule(doctor: Doctor, rule: RuleFacts): Found {
  const { name, arn, isEnabled, pattern } = rule;
  const [, , , region = "", account = ""] = arn.split(":");
  if (!isEnabled) {
    return turnedOff(doctor, name, `${name} is disabled: launches do not reach the holder`);
  }
  const { cluster } = doctor;
  const probeKey = probeKeyIn(cluster, pattern);
  if (!isDeepStrictEqual(pattern, launchesAndProbes({ cluster, account, region, probeKey }))) {
    return fail(`${name} does not match launches`, redeploy(doctor));
  }
  return ok(name);
}

/** A rule that is disabled. */
export const turnedOff = ({ account }: Doctor, name: string, what: string): Found =>
  fail(what, `aws events enable-rule --name ${name}`, {
    action: `enable rule ${name}`,
    apply: () => account.enableRule(name),
  });

/** The rule's target is the launch queue. */
export function checkTarget(doctor: Doctor, rule: RuleFacts, queueArn: string): Findings {
  const target = rule.targets.find(({ arn }) => arn === queueArn);
  if (!target) return fail(`${rule.name} does not lead to the launch queue`, redeploy(doctor));
  if (!target.deadLetterArn) {
    return fail("the target has no dead-letter queue: undeliverable launches vanish", redeploy(doctor));
  }
  return ok("the rule leads to the launch queue");
}

/** The queue from which the hold function reads launches. */
export async function checkQueue(doctor: Doctor, url: string): Promise<Seen<QueueFacts>> {
  const queue = await doctor.account.queue(url);
  if (!queue) return { findings: fail(`the launch queue ${url} is gone`, redeploy(doctor)) };
  const { waiting, inFlight } = queue;
  return { findings: ok(`${waiting} waiting, ${inFlight} in flight`), facts: queue };
}

/** The queue lets the rule send to it. */
export function checkQueuePolicy(doctor: Doctor, queue: QueueFacts, ruleArn: string): Findings {
  if (admitsEvents(queue.policy, ruleArn)) return ok("the bus may send to the queue");
  const what = "the launch queue's policy does not let the rule send: every launch is lost on its way";
  return fail(what, redeploy(doctor), {
    action: "let the rule send to the launch queue again",
    apply: () => doctor.account.letRuleSend(queue, ruleArn),
  });
}

/** The queue is read by the hold function. */
export async function checkMapping(
  doctor: Doctor,
  functionName: string,
  queueArn: string,
): Promise<Findings> {
  const mapping = await doctor.account.mapping(functionName, queueArn);
  if (!mapping) return fail(`${functionName} has no event source mapping for the queue`, redeploy(doctor));
  const { id, state, lastResult } = mapping;
  if (["Enabled", "Enabling", "Updating", "Creating"].includes(state)) {
    const trouble = /^(no records processed|ok|user action|)$/i.test(lastResult) ? "" : ` (${lastResult})`;
    return ok(`the queue feeds ${functionName}${trouble}`);
  }
  const remedy = `aws lambda update-event-source-mapping --uuid ${id} --enabled`;
  return fail(`the queue does not feed ${functionName}: its mapping is ${state}`, remedy, {
    action: "enable the event source mapping",
    apply: () => doctor.account.enableMapping(id),
  });
}

/** Whether some statement lets EventBridge send, from this rule at least. */
function admitsEvents(policy: unknown, ruleArn: string): boolean {
  const { Statement: statements } = Object(policy);
  return listOf(statements).some((one) => {
    const { Effect, Principal, Action, Condition } = Object(one);
    const services = listOf(Object(Principal).Service);
    const actions = listOf(Action).map((action) => String(action).toLowerCase());
    const mayBe = Effect === "Allow" && (services.includes("events.amazonaws.com") || Principal === "*");
    return (
      mayBe &&
      actions.some((action) => ["sqs:sendmessage", "sqs:*"].includes(action)) &&
      fits(Condition, ruleArn)
    );
  });
}

function fits(condition: unknown, ruleArn: string): boolean {
  const sources = Object.values(Object(condition)).flatMap((test) => listOf(Object(test)["aws:SourceArn"]));
  return sources.length === 0 || sources.includes(ruleArn);
}

const listOf = (value: unknown): readonly unknown[] => [value ?? []].flat();

/** The dead-letter queue of each kind; undefined where there is none, missing where unknown. */
export type DeadLetterQueues = Readonly<
  Partial<Record<"launches" | "events" | "invocations", string | undefined>>
>;

/** The dead-letter queues are empty. */
export async function checkDeadLetters(doctor: Doctor, arns: DeadLetterQueues): Promise<Findings> {
  const kinds = Object.entries(arns);
  const found = await Promise.all(
    kinds.map(async ([kind, arn]) => ({ kind, queue: arn ? await doctor.account.queue(arn) : undefined })),
  );
  const gone = found.filter(({ queue }) => !queue);
  if (gone.length > 0) {
    const what = `there is no dead-letter queue for ${gone.map(({ kind }) => kind).join(" and ")}`;
    return fail(what, redeploy(doctor));
  }
  const remedy = `See ${documentLink("operating.md#dead-letters")}; empty the queue once you know why.`;
  const full = found.flatMap(({ kind, queue }) =>
    queue?.waiting ? warn(`${queue.waiting} ${kind} failed after all retries, in ${queue.url}`, remedy) : [],
  );
  return full.length > 0 ? full : ok("none");
}
