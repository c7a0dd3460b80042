import { after, type Duration, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import type { NodeView } from "../../simulator/cluster-view.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { type Command, mostSkew, type Setting } from "./commands.ts";
import { Karpenter } from "./karpenter.ts";
import { countsFrom, isCovered, scopeFor } from "./rules/oracle.ts";
import { lacksMark } from "./rules/unhealed.ts";
import { must, Watcher } from "./rules/watcher.ts";
import { rulesOf } from "./stage.ts";

/** The longest time between checks for a pending node, plus the difference of clocks. */
const longestUnmarked = minutes(2) + seconds(30);
const pools = ["a", "b"];

/** Without failures, losses and crashes everything is held and released without a sweep. */
export async function playOnGoodDay(setting: Setting, commands: readonly Command[]): Promise<void> {
  const world = new Scenario(rulesOf(setting));
  world.sweepEvery = undefined;
  for (let n = 0; n < setting.nodes; n++) world.addNode(`old-${n}`, { pool: pools[n % 2] ?? null });
  const karpenter = new Karpenter(world, setting);
  const watcher = new Watcher(world, karpenter);
  world.watch = (invocation, call) => watcher.look(invocation, call);
  world.moved = () => watcher.accept();

  const day = { world, karpenter, watcher };
  for (const command of commands) await carryOut(day, command);
  await pass(day, setting.auto ? hours(60) : minutes(100));
  watcher.atRest();
}

type Day = Readonly<{ world: Scenario; karpenter: Karpenter; watcher: Watcher }>;

async function carryOut(day: Day, command: Command): Promise<void> {
  const { world, karpenter } = day;
  switch (command.do) {
    case "launch": {
      const { knownAfter, eventAfter, duplicatesAfter } = command;
      karpenter.launch({
        ...command,
        userHeld: false,
        eventAfter: (eventAfter ?? 0) + knownAfter,
        duplicatesAfter: duplicatesAfter.map((delay) => delay + knownAfter),
        knownAfter: 0,
      });
      return;
    }
    case "use":
      return karpenter.use(command.node);
    case "drift":
      return karpenter.drift(command.node);
    case "deliver": {
      const due = world.queue.due();
      const first = command.first % Math.max(1, due.length);
      const invocation = await world.deliver(due.slice(first, first + command.count), command.skew);
      if (command.atOnce) await world.finish(invocation);
      return;
    }
    case "fire": {
      const [release] = [...world.oneShots.armed.values()].filter(({ at }) => at <= world.time);
      const invocation = release && (await world.fire(release, { skew: command.skew }));
      if (invocation && command.atOnce) await world.finish(invocation);
      return;
    }
    case "ask": {
      const invocation = await world.ask(command.request, command.skew);
      if (command.atOnce) await world.finish(invocation);
      return;
    }
    case "step":
    case "finish": {
      const atWork = [...world.running];
      const invocation = atWork[command.who % Math.max(1, atWork.length)];
      if (!invocation) return;
      if (command.do === "finish") await world.finish(invocation);
      else for (let n = 0; n < command.times; n++) await world.step(invocation);
      return;
    }
    case "pass":
      return pass(day, command.time);
    default:
      return;
  }
}

/** Runs everything on time, except what is due at the very end. */
async function pass(day: Day, duration: Duration): Promise<void> {
  const { world } = day;
  for (const invocation of world.running) await world.finish(invocation);
  const end = after(world.time, duration || minutes(60));
  for (;;) {
    await world.happen();
    const next = world.nextMoment(end);
    if (next && next > world.time) world.time = next;
    checkPendingNodes(day);
    if (!next || duration === 0) break;
  }
  if (duration > 0) world.time = end;
}

function checkPendingNodes({ world, karpenter, watcher: { letGo } }: Day): void {
  for (const node of world.nodes.all()) {
    if (!isCovered(world.settings, node.pool)) continue;
    const record = world.holds.records.get(scopeFor(world.settings, node.pool));
    if (!record?.hold || !lacksMark(world, record, node, letGo)) continue;
    // No hold awaits a replacement that was launched before it: the next sweep marks its node.
    const launch = karpenter.launches.get(node.instance);
    if (launch?.namedAt && launch.launchedAt < record.hold.startedAt) continue;
    const isLong = [record.hold.startedAt, node.joinedAt, letGo.widenedAt(record.hold.id)].every(
      (since) => after(since, longestUnmarked) < world.time,
    );
    must(!isLong || !countsStill(world, node), "a node that joins is marked soon, without a sweep", () => ({
      node,
      record,
    }));
  }
}

function countsStill(world: Scenario, node: NodeView): boolean {
  const { records } = world.holds;
  const launchedAt = world.ec2.instances.get(node.instance)?.launchedAt ?? new Date(0);
  const scope = scopeFor(world.settings, node.pool ?? "");
  return launchedAt > after(countsFrom(records.get(scope), records.get(wholeCluster)), 2 * mostSkew);
}
