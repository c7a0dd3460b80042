import { documentLink } from "../../../infra/package-root.ts";
import { scheduleName } from "../../../lambda/aws/scheduler-releases.ts";
import { after, type Duration, formatDuration, hours, minutes } from "../../../lambda/core/duration.ts";
import type { PresentHold } from "../../../lambda/core/operate/check.ts";
import { holderSettings } from "../../../lambda/settings-table.ts";
import { parseHistory } from "../../answers.ts";
import { about } from "../../terminal/text.ts";
import { type Checks, type Facts, sweepNow, turnedOff } from "../doctor.ts";
import { type Found, fail, ok, orOk, readLog, warn } from "../finding.ts";
import type { Inside } from "../inside.ts";

/** A one-shot may fire a minute late, and deletes itself when it has. */
const grace: Duration = minutes(2);

/** A request keeps its end when maxRequest is lowered. Launches and windows hold for a week at most. */
const longestHold: Duration = holderSettings.maxRequest.value.most + grace;

const week: Duration = hours(24 * 7);

/** Each hold then keeps every node until its end, however long some of them have been empty. */
const atCap =
  "Launches hardly pause for as long as hold. Use hold=auto, which lets single nodes go meanwhile, a larger maxHold, or a " +
  "shorter hold: npx karpenter-node-holder advise --holds 2m,5m,10m,20m";

/** What is held ends in time, and the sweep looks after it. */
export const ofHolds = {
  async holds(facts) {
    const inside = await facts.answers.control;
    if (!inside.record.works) return [];
    const { holds, pauses } = inside.record;
    const wrong = await Promise.all(holds.map((hold) => troubleOf(facts, hold, inside)));
    const paused = pauses.map(({ scope, until, because }) =>
      warn(
        `${scope} is paused until ${until.toISOString()}: ${because}`,
        `To hold again: npx karpenter-node-holder resume --cluster ${facts.holder} --scope ${scope}`,
      ),
    );
    return orOk([...wrong, ...paused], `${holds.length} now, all end in time`);
  },
  async cap({ account, answers }) {
    const { rules, record, at } = await answers.control;
    if (!record.works || rules.auto || rules.maxHold === 0) return [];
    const holds = parseHistory(await account.invoke("control", { do: "history", limit: 1_000 }));
    const lately = holds.filter(({ capped, endedAt }) => capped && endedAt > after(at, -week));
    const { size } = new Set(lately.map(({ endedAt }) => endedAt.toISOString().slice(0, 10)));
    const what = `holds reached maxHold=${formatDuration(rules.maxHold)} on ${size} of the last 7 days`;
    return size < 3 ? ok(what) : warn(what, atCap);
  },
  async timer(facts) {
    const { sweep } = facts.functions;
    const rule = await facts.account.ruleTo(sweep.arn);
    if (!rule) return fail(`no rule invokes ${sweep.name}`);
    if (rule.isEnabled) return ok(rule.name);
    return turnedOff(facts, rule.name, `${rule.name}, which invokes the sweep, is disabled`);
  },
  async sweep(facts) {
    const { sweep } = facts.functions;
    const { record, rules, at } = await facts.answers.control;
    if (!record.works) return [];
    const { sweepEvery: every } = rules;
    const { lastSweep } = record;
    const age = at.getTime() - (lastSweep ?? sweep.changedAt).getTime();
    if (age <= 2 * every + grace)
      return lastSweep
        ? ok(`ran ${about(age)} ago, every ${about(every)}`)
        : warn("none has run since the last deployment", `Wait ${about(every)}.`);
    const what = lastSweep
      ? `the last sweep that ran to its end was ${about(age)} ago, one is due every ${about(every)}`
      : "no sweep has run to its end yet";
    const remedy = `See ${documentLink("operating.md#sweep-silent")}. ${readLog(sweep.name)}`;
    return fail(what, remedy, sweepNow(facts));
  },
} satisfies Checks;

/** A hold ends in time: its one-shot is there, it is not overdue, and no setting allows it to last as long as it does. */
async function troubleOf(
  facts: Facts,
  { id, scope, state, until, nextLook = until }: PresentHold,
  { at }: Inside,
): Promise<Found | false> {
  const hold = `the hold of ${scope} (${id})`;
  const overdue = at.getTime() - until.getTime();
  const late = at.getTime() - nextLook.getTime();
  if (overdue > grace) {
    const remedy = `See ${documentLink("operating.md#release-overdue")}; --fix sweeps at once.`;
    return fail(`${hold} should have ended ${about(overdue)} ago`, remedy, sweepNow(facts));
  }
  if (state === "releasing") return false;
  if (-overdue > longestHold) {
    const what = `${hold} lasts until ${until.toISOString()}, longer than any setting allows`;
    return fail(what, `npx karpenter-node-holder release --force --cluster ${facts.holder}`);
  }
  const remedy = "--fix sweeps at once, which sets a new one.";
  const broken = (what: string) => fail(`${what}: only the sweep will end it`, remedy, sweepNow(facts));
  if (late > grace) return broken(`the one-shot of ${hold} was due ${about(late)} ago and set no other`);
  if (late >= -grace) return false;
  const name = scheduleName(id, nextLook);
  const isThere = (await facts.schedules)?.some((one) => one.name === name && one.isEnabled);
  return isThere ? false : broken(`${hold} has no one-shot to end it`);
}
