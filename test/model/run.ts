import { after, type Duration, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { type Command, goodSkew, mostSkew, type Setting } from "./commands.ts";
import { must } from "./rules/must.ts";
import { runsJob } from "./rules/pays-rules.ts";
import { Stage } from "./stage.ts";

/** Runs the commands, then lets the world finish all work. */
export async function play(setting: Setting, commands: readonly Command[]): Promise<void> {
  const stage = new Stage(setting, mostSkew);
  for (const command of commands) await stage.carryOut(command);
  await stage.settle();
  stage.karpenter.endJobs();
  // There are no more launches: every hold ends, at most twice when launches are found late.
  for (let n = 0; n < 8 && !isQuiet(stage); n++) {
    await stage.pass(minutes(13) * 2 ** Math.max(0, n - 3));
    await stage.settle();
  }
  stage.watcher.atRest();
}

const isQuiet = ({ world }: Stage): boolean =>
  world.queue.messages.length === 0 && [...world.holds.records.values()].every(({ hold }) => !hold);

/** The longest time for which anything is unfinished when nothing fails: a node that joins is looked for once a minute. */
const longest: Duration = minutes(3);
/** Karpenter may take a node so soon after a pod has come to it. */
const soonestTaken: Duration = seconds(30);

/**
 * Without faults, losses and crashes everything is held and released on time, without a sweep. People act one after the
 * other: where two act at the same moment, a slow function may mark what the other has released, until the next sweep.
 */
export async function playOnGoodDay(setting: Setting, commands: readonly Command[]): Promise<void> {
  const { stage, pass } = goodDay(setting);
  for (const command of commands) {
    if (command.do === "ask") await finishAll(stage);
    if (command.do === "pass") await pass(command.time);
    else await stage.carryOut(command);
  }
  stage.karpenter.endJobs();
  await pass(hours(8));
  stage.watcher.atRest();
}

/** A day on which everything runs on time. */
export function goodDay(setting: Setting) {
  const stage = new Stage({ ...setting, orphanedMark: false }, goodSkew);
  const since = new Map<string, Date>();
  const check = () => checkInTime(stage, since);
  return { stage, pass: (time: Duration) => passOnTime(stage, time, check) };
}

async function finishAll(stage: Stage): Promise<void> {
  for (const invocation of stage.world.running) await stage.finish(invocation);
}

/** Runs everything on time; no time: until something is due. */
async function passOnTime(stage: Stage, time: Duration, check: () => void): Promise<void> {
  const { world } = stage;
  await finishAll(stage);
  const end = after(world.time, time || hours(1));
  for (;;) {
    const messages = world.queue.due();
    if (messages.length > 0) await world.finish(await world.deliver(messages));
    for (const oneShot of world.dueOneShots()) await world.finish(await world.fire(oneShot));
    check();
    const next = [
      ...world.queue.messages.map(({ visibleAt }) => visibleAt),
      ...[...world.oneShots.armed.values()].map(({ at }) => at),
      ...(world.clock.next ? [world.clock.next] : []),
    ].reduce((a, b) => (a < b ? a : b), end);
    if (next >= end) break;
    await stage.pass(Math.max(0, next.getTime() - world.time.getTime()));
    check();
    if (time === 0) return;
  }
  if (time > 0) await stage.pass(end.getTime() - world.time.getTime());
}

/** A drift is seen by the next look, which may be a sweep. */
function checkInTime({ world, watcher, karpenter }: Stage, since: Map<string, Date>): void {
  const looks = world.queue.messages.filter(({ body }) => body.includes('"kind":"scope"'));
  const ofScopes = Object.groupBy(looks, ({ body }) => body);
  // One that waits for a minute, one that is about to arrive, and the one that follows it.
  for (const [body, same = []] of Object.entries(ofScopes))
    must(same.length <= 3, "a scope is looked for by few messages at a time", () => body);
  const left = watcher.unfinished().filter(({ text }) => !karpenter.drifting.has(text.split(" ")[0] ?? ""));
  const texts = new Set([...left.map(({ text }) => text), ...watcher.overdue()]);
  for (const text of since.keys()) if (!texts.has(text)) since.delete(text);
  for (const text of texts) {
    const from = since.get(text) ?? world.time;
    since.set(text, from);
    const limit = text.endsWith(runsJob) ? soonestTaken : longest;
    must(after(from, limit) > world.time, "without faults nothing waits for a sweep", () => text);
  }
}
