import { isDeepStrictEqual } from "node:util";
import { launchesAndProbes } from "../../../lambda/handlers/event-sources.ts";
import { documentLink } from "../../../lambda/package-root.ts";
import type { RuleFacts } from "../aws/account.ts";
import { probeKeyIn } from "../aws/launch-path.ts";
import { type Doctor, redeploy } from "../doctor.ts";
import { type Check, found } from "../facts.ts";
import { type Found, fail, ok, warn } from "../finding.ts";
import { effectOnEvents } from "./queue-policy.ts";

/** The largest burst is done sooner than this many launches have come together. */
const mostWaiting = 1_000;

/** The way of a launch: the rule on the bus, the queue, and what feeds the hold function. */
export const ofLaunchPath: readonly Check[] = [
  {
    link: "rule",
    async find({ doctor, rule }) {
      const present = await rule();
      if (present) return judgeRule(doctor, present);
      return fail("no rule on the default event bus matches launches", redeploy(doctor));
    },
  },
  {
    link: "queue",
    async find({ doctor, queue, functions }) {
      const present = await queue();
      const url = functions.hold.env.LAUNCH_QUEUE_URL ?? "";
      if (!present) return fail(`the launch queue ${url} is gone`, redeploy(doctor));
      const { waiting, inFlight } = present;
      const what = `${waiting} waiting, ${inFlight} in flight`;
      if (waiting < mostWaiting) return ok(what);
      const log = `aws logs tail /aws/lambda/${functions.hold.name} --since 10m`;
      return fail(
        `${what}: launches are not handled as fast as they come`,
        `Read the hold function's log: ${log}`,
      );
    },
  },
  {
    link: "target",
    async find({ doctor, rule, queue }) {
      const { name, targets } = found(await rule());
      const { arn } = found(await queue());
      const target = targets.find((one) => one.arn === arn);
      if (!target) return fail(`${name} does not lead to the launch queue`, redeploy(doctor));
      if (target.deadLetterArn) return ok("the rule leads to the launch queue");
      return fail("the target has no dead-letter queue: undeliverable launches vanish", redeploy(doctor));
    },
  },
  {
    link: "queue policy",
    async find({ doctor, rule, queue }) {
      const { arn } = found(await rule());
      const launches = found(await queue());
      const effect = effectOnEvents(launches.policy, arn);
      if (effect === "allows") return ok("the bus may send to the queue");
      const lost = "every launch is lost on its way";
      if (effect === "denies")
        return fail(`the launch queue's policy denies what the rule sends: ${lost}`, redeploy(doctor));
      return fail(`the launch queue's policy does not let the rule send: ${lost}`, redeploy(doctor), {
        action: "let the rule send to the launch queue again",
        apply: () => doctor.account.letRuleSend(launches, arn),
      });
    },
  },
  {
    link: "mapping",
    async find({ doctor, queue, functions: { hold } }) {
      const mapping = await doctor.account.mapping(hold.name, found(await queue()).arn);
      if (!mapping) return fail(`${hold.name} has no event source mapping for the queue`, redeploy(doctor));
      const { id, state, lastResult } = mapping;
      if (!["Enabled", "Enabling", "Updating", "Creating"].includes(state)) {
        const remedy = `aws lambda update-event-source-mapping --uuid ${id} --enabled`;
        return fail(`the queue does not feed ${hold.name}: its mapping is ${state}`, remedy, {
          action: "enable the event source mapping",
          apply: () => doctor.account.enableMapping(id),
        });
      }
      if (/^(no records processed|ok|user action|)$/i.test(lastResult))
        return ok(`the queue feeds ${hold.name}`);
      const log = `aws logs tail /aws/lambda/${hold.name} --since 1h`;
      return warn(
        `the last time that the queue fed ${hold.name} ended with: ${lastResult}`,
        `Read its log: ${log}`,
      );
    },
  },
  {
    link: "dead letters",
    follows: ["target"],
    async find({ doctor, rule, queue, functions }) {
      const launches = found(await queue());
      const present = await rule().catch(() => undefined);
      const target = present?.targets.find(({ arn }) => arn === launches.arn);
      const arns = Object.entries({
        launches: launches.deadLetterArn,
        ...(present && { events: target?.deadLetterArn }),
        invocations: functions.release.failuresArn,
      });
      const queues = await Promise.all(
        arns.map(async ([kind, arn]) => ({ kind, full: arn ? await doctor.account.queue(arn) : undefined })),
      );
      const gone = queues.flatMap(({ kind, full }) => (full ? [] : [kind]));
      if (gone.length > 0)
        return fail(`there is no dead-letter queue for ${gone.join(" and ")}`, redeploy(doctor));
      const remedy = `See ${documentLink("operating.md#dead-letters")}; empty the queue once you know why.`;
      const full = queues.flatMap(({ kind, full }) =>
        full?.waiting ? warn(`${full.waiting} ${kind} failed after all retries, in ${full.url}`, remedy) : [],
      );
      return full.length > 0 ? full : ok("none");
    },
  },
];

function judgeRule(doctor: Doctor, rule: RuleFacts): Found {
  const { name, arn, isEnabled, pattern } = rule;
  const [, , , region = "", account = ""] = arn.split(":");
  if (!isEnabled) return turnedOff(doctor, name, `${name} is disabled: launches do not reach the holder`);
  const { cluster } = doctor;
  const probeKey = probeKeyIn(cluster, pattern);
  if (isDeepStrictEqual(pattern, launchesAndProbes({ cluster, account, region, probeKey }))) return ok(name);
  return fail(`${name} does not match launches`, redeploy(doctor));
}

/** A rule that is disabled. */
export const turnedOff = ({ account }: Doctor, name: string, what: string): Found =>
  fail(what, `aws events enable-rule --name ${name}`, {
    action: `enable rule ${name}`,
    apply: () => account.enableRule(name),
  });
