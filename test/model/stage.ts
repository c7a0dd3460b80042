import { after, type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import type { Settings } from "../../lambda/settings.ts";
import { karpentersLabels } from "../../simulator/fake-ec2.ts";
import { holdId, timedIds } from "../../simulator/hold-ids.ts";
import type { Invocation } from "../../simulator/invocation.ts";
import { World } from "../../simulator/world.ts";
import type { Change, Command, Outage, Setting } from "./commands.ts";
import { Karpenter as KarpenterModel } from "./karpenter.ts";
import { Watcher } from "./rules/watcher.ts";
import { actAsUser } from "./users.ts";

const pools = ["a", "b"];
/** The largest number of functions that run at the same time. */
const mostAtWork = 4;
/** The runtime stops a function this long after its deadline. */
const grace = seconds(30);

/** As if both generations of Karpenter managed the node. */
const labelsOf = (pool: string) => karpentersLabels("v0.31", pool);

/** The settings of a run. */
export const rulesOf = ({ leftOut, ...own }: Setting): Partial<Rules> => ({
  scope: own.scope,
  maxHold: own.maxHold,
  breather: own.breather,
  initialDelay: own.initialDelay,
  replacements: own.replacements,
  extendOn: own.extendOn,
  letGo: own.letGo,
  driftWait: own.driftWait,
  ...lengthOf(own.auto),
  nodePools: poolsOf({ leftOut }),
});

const lengthOf = (cost: Setting["auto"]) => ({
  auto: cost !== null,
  relaunchCost: cost ?? minutes(10),
  hold: cost ?? minutes(20),
});

const poolsOf = ({ leftOut }: Pick<Setting, "leftOut">) => ({ only: [], except: leftOut ? ["b"] : [] });

/** Runs commands on a world; a watcher checks every step. */
export class Stage {
  readonly world: World;
  readonly watcher: Watcher;
  readonly #karpenter: KarpenterModel;

  constructor(setting: Setting) {
    this.world = new World(rulesOf(setting), timedIds());
    this.world.access.hasPolicies = false;
    this.world.access.install([this.world.settings.holdAnnotation]);
    for (let n = 0; n < setting.nodes; n++) {
      const pool = pools[n % 2] ?? "a";
      this.world.nodes.add(`old-${n}`, { pool, labels: labelsOf(pool) });
    }
    if (setting.nodes > 0 && setting.orphanedMark) this.world.nodes.mark("old-0", holdId(0));
    this.#karpenter = new KarpenterModel(this.world, setting);
    this.watcher = new Watcher(this.world, this.#karpenter);
    this.world.refuses = (call) => this.watcher.broken.has(call);
    this.world.watch = (invocation, call) => this.watcher.look(invocation, call);
  }

  async carryOut(command: Command): Promise<void> {
    const { world } = this;
    switch (command.do) {
      case "launch":
        return this.#launch(command);
      case "deliver": {
        const due = world.queue.due();
        if (due.length === 0) return;
        const first = command.first % due.length;
        return this.#begin(command, () =>
          world.deliver(due.slice(first, first + command.count), command.skew),
        );
      }
      case "fire": {
        const armed = [...world.oneShots.armed.values()].filter(
          ({ at }) => command.early || at <= world.time,
        );
        const release = armed[command.which % Math.max(1, armed.length)];
        return (
          release &&
          this.#begin(command, () =>
            world.fire(release, { skew: command.skew, isDuplicated: command.isDuplicated }),
          )
        );
      }
      case "retry": {
        const retry = world.retries.shift();
        return (
          retry &&
          this.#begin(command, () => world.release(retry.payload, command.skew, retry.attempt, retry.id))
        );
      }
      case "sweep":
        return this.#begin(command, () => world.sweep(command.skew));
      case "ask":
        return this.#begin(command, () => world.ask(command.request, command.skew));
      case "lose":
        return this.#lose(command.what, command.which);
      case "deploy":
        return this.#deploy(command.change);
      case "break":
        return this.#break(command.what, command.which);
      case "repair":
        return this.#repair();
      case "spoil":
        return this.#spoil(command.which);
      case "grant":
        return this.#karpenter.grant(command.readable);
      case "use":
        return this.#karpenter.use(command.node);
      case "drift":
        return this.#karpenter.drift(command.node);
      case "pass":
        return this.pass(command.time);
      case "user":
        actAsUser(world, this.#karpenter, command);
        return this.watcher.accept();
      default:
        return this.#atWork(command);
    }
  }

  /** Moves the clock: nodes join, EC2 lists its instances, functions that run too long are stopped. */
  async pass(time: Duration): Promise<void> {
    const { world } = this;
    const end = after(world.time, time);
    await world.clock.runUntil(end);
    for (const invocation of world.running) {
      if (end > after(invocation.deadline, grace - invocation.skew)) invocation.crash();
    }
    this.watcher.accept();
  }

  /** Runs all waiting messages, one-shots and retries, then a sweep without disturbance. */
  async settle(): Promise<void> {
    const { world } = this;
    this.#repair();
    for (const invocation of world.running) await world.finish(invocation);
    for (let messages = world.queue.due(); messages.length > 0; ) {
      await world.finish(await world.deliver(messages));
      messages = world.queue.due();
    }
    for (const release of [...world.oneShots.armed.values()].filter(({ at }) => at <= world.time))
      await world.finish(await world.fire(release));
    for (const { payload, attempt, id } of world.retries.splice(0))
      await world.finish(await world.release(payload, 0, attempt, id));
    await world.finish(await world.sweep());
  }

  async #begin(command: Readonly<{ atOnce: boolean }>, begin: () => Promise<Invocation>): Promise<void> {
    const [oldest] = this.world.running;
    if (oldest && this.world.running.size >= mostAtWork) await this.world.finish(oldest);
    const invocation = await begin();
    if (command.atOnce) await this.world.finish(invocation);
  }

  async #atWork(command: Extract<Command, { who: number }>): Promise<void> {
    const atWork = [...this.world.running];
    const invocation = atWork[command.who % Math.max(1, atWork.length)];
    if (!invocation) return;
    if (command.do === "crash") return invocation.crash();
    if (command.do === "fault") return this.world.step(invocation, command.verdict);
    if (command.do === "finish") await this.world.finish(invocation);
    else for (let n = 0; n < command.times; n++) await this.world.step(invocation);
  }

  #launch(about: Extract<Command, { do: "launch" }>): void {
    const annotations = about.userHeld && { [this.world.settings.holdAnnotation]: "true" };
    const labels = labelsOf(pools[about.pool] ?? "a");
    this.#karpenter.launch(about, {
      ...(annotations && { annotations }),
      ...(!about.foreign && { labels }),
    });
  }

  async #deploy(change: Change): Promise<void> {
    if ("karpenter" in change) {
      const { annotation: holdAnnotation } = Karpenter[change.karpenter];
      await this.#deployAnnotation({ ...change, holdAnnotation });
    } else if ("holdAnnotation" in change) await this.#deployAnnotation(change);
    else if ("auto" in change) {
      this.world.settings = { ...this.world.settings, ...lengthOf(change.auto) };
    } else this.world.deploy("leftOut" in change ? { nodePools: poolsOf(change) } : change);
    this.watcher.deployed();
  }

  /** CloudFormation updates the functions first, and begins no deployment before the last one has ended. */
  async #deployAnnotation(change: Partial<Settings>): Promise<void> {
    for (const invocation of this.world.running)
      if (invocation.name === "access") await this.world.finish(invocation);
    this.world.deploy(change);
    await this.#begin({ atOnce: false }, () => this.world.changeAccess());
  }

  #break(what: Outage, which: number): void {
    if (what === "api") this.world.throttledSince = this.world.time;
    const nodes = this.world.nodes.all();
    const name = nodes[which % Math.max(1, nodes.length)]?.name ?? "none";
    this.watcher.broken.add(what === "node" ? `patch ${name}` : what);
  }

  /** The hold in a record can no longer be read. */
  async #spoil(which: number): Promise<void> {
    const held = [...this.world.holds.records.values()].filter(({ hold }) => hold);
    const { scope } = held[which % Math.max(1, held.length)] ?? {};
    if (scope) await this.world.holds.spoil(scope);
  }

  #repair(): void {
    this.watcher.broken.clear();
    this.world.throttledSince = undefined;
  }

  #lose(what: "schedule" | "message" | "event", which: number): void {
    const { queue, oneShots } = this.world;
    if (what === "event") {
      this.#karpenter.forgetEvent(which);
      return;
    }
    if (what === "schedule") {
      const names = [...oneShots.armed.keys()];
      oneShots.armed.delete(names[which % Math.max(1, names.length)] ?? "");
      return;
    }
    const message = queue.messages[which % Math.max(1, queue.messages.length)];
    queue.messages = queue.messages.filter((one) => one !== message);
  }
}
