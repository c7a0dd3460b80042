import { after, type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import type { NodeView } from "../../simulator/cluster-view.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { type Command, mostSkew, type Setting } from "./commands.ts";
import { countsFrom, isCovered, scopeFor } from "./oracle.ts";
import { rulesOf } from "./stage.ts";
import { lacksMark } from "./unhealed.ts";
import { must, Watcher } from "./watcher.ts";

/** A newcomer is looked for at least so often, and clocks differ. */
const longestUnmarked = minutes(2) + seconds(30);
const pools = ["a", "b"];

/** Without failure, loss or crash everything is held and released without a single sweep. */
export async function playOnGoodDay(setting: Setting, commands: readonly Command[]): Promise<void> {
  const story = new Scenario(rulesOf(setting));
  story.sweepEvery = undefined;
  for (let n = 0; n < setting.nodes; n++) story.addNode(`old-${n}`, { pool: pools[n % 2] ?? null });
  const watcher = new Watcher(story);
  story.watch = (invocation, call) => watcher.look(invocation, call);
  story.moved = () => watcher.accept();

  for (const command of commands) await carryOut(story, command);
  await pass(story, minutes(100));
  watcher.atRest();
}

async function carryOut(story: Scenario, command: Command): Promise<void> {
  switch (command.do) {
    case "launch": {
      const { joinsAfter, eventAfter, twinsAfter, knownAfter } = command;
      const pool = command.foreign ? null : (pools[command.pool] ?? null);
      const duplicatesAfter = twinsAfter.map((delay) => delay + knownAfter);
      story.launch({ pool, joinsAfter, eventAfter: (eventAfter ?? 0) + knownAfter, duplicatesAfter });
      return;
    }
    case "deliver": {
      const due = story.queue.due();
      const first = command.first % Math.max(1, due.length);
      const invocation = await story.deliver(due.slice(first, first + command.count), command.skew);
      if (command.atOnce) await story.finish(invocation);
      return;
    }
    case "fire": {
      const [release] = [...story.oneShots.armed.values()].filter(({ at }) => at <= story.time);
      const invocation = release && (await story.fire(release, { skew: command.skew }));
      if (invocation && command.atOnce) await story.finish(invocation);
      return;
    }
    case "ask": {
      const invocation = await story.ask(command.request, command.skew);
      if (command.atOnce) await story.finish(invocation);
      return;
    }
    case "step":
    case "finish": {
      const atWork = [...story.running];
      const invocation = atWork[command.who % Math.max(1, atWork.length)];
      if (!invocation) return;
      if (command.do === "finish") await story.finish(invocation);
      else for (let n = 0; n < command.times; n++) await story.step(invocation);
      return;
    }
    case "pass":
      return pass(story, command.time);
    default:
      return;
  }
}

/** Everything due happens in its time, but for what falls due at the very end. */
async function pass(story: Scenario, duration: Duration): Promise<void> {
  for (const invocation of story.running) await story.finish(invocation);
  const end = after(story.time, duration || minutes(60));
  for (;;) {
    await story.happen();
    const next = story.nextMoment(end);
    if (next && next > story.time) story.time = next;
    checkNewcomers(story);
    if (!next || duration === 0) break;
  }
  if (duration > 0) story.time = end;
}

function checkNewcomers(story: Scenario): void {
  for (const node of story.nodes.all()) {
    if (!isCovered(story.settings, node.pool)) continue;
    const record = story.holds.records.get(scopeFor(story.settings, node.pool));
    if (!record?.hold || !lacksMark(story, record, node)) continue;
    const isLong = [record.hold.startedAt, node.joinedAt].every(
      (since) => after(since, longestUnmarked) < story.time,
    );
    must(!isLong || !countsStill(story, node), "a newcomer is marked soon, without a sweep", () => ({
      node,
      record,
    }));
  }
}

function countsStill(story: Scenario, node: NodeView): boolean {
  const { records } = story.holds;
  const launchedAt = story.ec2.instances.get(node.instance)?.launchedAt ?? new Date(0);
  const scope = scopeFor(story.settings, node.pool ?? "");
  return launchedAt > after(countsFrom(records.get(scope), records.get(wholeCluster)), 2 * mostSkew);
}
