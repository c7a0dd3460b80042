import { after, type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import type { ScopeRecord } from "../../lambda/core/record.ts";
import type { Settings } from "../../lambda/settings.ts";
import { holdId, timedIds } from "../../simulator/hold-ids.ts";
import type { Invocation } from "../../simulator/invocation.ts";
import { World } from "../../simulator/world.ts";
import type { Begun, Command, Deployed, Setting } from "./commands.ts";
import { Karpenter, pools } from "./karpenter.ts";
import { Outages } from "./outages.ts";
import { must } from "./rules/must.ts";
import { Watcher } from "./rules/watcher.ts";
import { actAsUser } from "./users.ts";

/** The largest number of functions that run at the same time. */
const mostAtWork = 4;
/** The runtime stops a function this long after its deadline. */
const grace = seconds(30);

const settingsOf = ({ leftOut, ...rest }: Partial<Deployed>): Partial<Settings> => ({
  ...rest,
  ...(leftOut !== undefined && { nodePools: { only: [], except: leftOut ? ["b"] : [] } }),
});

/** Runs commands on a world; a watcher checks every step. */
export class Stage {
  readonly world: World;
  readonly watcher: Watcher;
  readonly karpenter: Karpenter;
  readonly #paces = new WeakMap<Invocation, Duration>();
  /** Whether a record was spoilt, or the settings named other scopes. */
  #isMixed = false;
  readonly #outages: Outages;

  constructor(setting: Setting, skew: Duration) {
    const { nodes, orphanedMark, claims, karpenter, auto, consolidateAfter, sizes, ...deployed } = setting;
    const own =
      karpenter === "v1" ? { auto } : { karpenter, holdAnnotation: "karpenter.sh/do-not-consolidate" };
    this.world = new World({ ...own, ...settingsOf(deployed) }, timedIds());
    this.#deploy({});
    const { world } = this;
    for (let n = 0; n < nodes; n++) world.nodes.add(`old-${n}`, { pool: pools[n % 2] ?? "a" });
    if (nodes > 0 && orphanedMark) world.nodes.mark("old-0", holdId(-3600));
    this.karpenter = new Karpenter(world, { consolidateAfter, sizes });
    this.karpenter.grant(world.settings.auto ? "readable" : claims);
    this.watcher = new Watcher(world, this.karpenter, skew);
    this.#outages = new Outages(world);
    world.watch = (invocation, call) => this.watcher.look(invocation, call);
  }

  async carryOut(command: Command): Promise<void> {
    const { world, karpenter, watcher } = this;
    switch (command.do) {
      case "launch":
        return karpenter.launch(command);
      case "deliver": {
        const due = world.queue.due();
        const first = command.first % Math.max(1, due.length);
        const messages = due.slice(first, first + command.count);
        if (messages.length > 0) await this.#begin(command, () => world.deliver(messages, command.skew));
        return;
      }
      case "fire": {
        const armed = [...world.oneShots.armed.values()];
        const due = armed.filter(({ at }) => command.isEarly || at <= world.time);
        const oneShot = due[command.which % Math.max(1, due.length)];
        if (oneShot) await this.#begin(command, () => world.fire(oneShot, command));
        return;
      }
      case "retry": {
        const retry = world.retries.shift();
        if (retry)
          await this.#begin(command, () =>
            world.release(retry.payload, command.skew, retry.attempt, retry.id),
          );
        return;
      }
      case "sweep":
        return this.#begin(command, () => world.sweep(command.skew));
      case "ask":
        return this.#begin(command, () => world.ask(command.request, command.skew));
      case "again":
        return this.#askAgain(command.which);
      case "force": {
        const askedAt = command.saysWhen && { askedAt: world.time.toISOString() };
        return this.#begin(command, () => world.release({ force: true, ...askedAt }, command.skew));
      }
      case "send": {
        const { ago, ...hold } = command.hold;
        const at = after(world.time, -ago).toISOString();
        const body = { hold: { ...hold, reason: "model", at } };
        for (const delay of [0, ...command.duplicatesAfter]) world.queue.send(body, delay);
        return;
      }
      case "lose":
        return this.#lose(command);
      case "deploy":
        this.#isMixed ||= command.change.scope !== undefined;
        this.#deploy(command.change);
        return watcher.deployed();
      case "break":
        return this.#outages.begin(command);
      case "repair":
        return this.#outages.end();
      case "spoil":
        return this.#spoil(command.which);
      case "grant":
        return world.settings.auto ? undefined : karpenter.grant(command.claims);
      case "pods":
        return karpenter.runPods(command.node, command.pods);
      case "take":
        karpenter.take();
        return watcher.accept();
      case "drift":
        return karpenter.drift(command.node);
      case "remove":
        karpenter.remove(command.node, command.drainsFor);
        return watcher.accept();
      case "user":
        actAsUser(world, command);
        return watcher.accept();
      case "pass":
        return this.pass(command.time);
      default:
        return this.#atWork(command);
    }
  }

  /** Moves the clock: nodes join and go, functions that run too long are stopped. */
  async pass(time: Duration): Promise<void> {
    const { world } = this;
    const end = after(world.time, time);
    await world.clock.runUntil(end);
    for (const invocation of world.running)
      if (world.time > after(invocation.deadline, grace - invocation.skew)) {
        invocation.crash();
        this.watcher.look(invocation, "crash");
      }
    this.watcher.accept();
  }

  /** Runs a function to its end; its calls take time. */
  async finish(invocation: Invocation): Promise<void> {
    const pace = this.#paces.get(invocation) ?? 0;
    while (invocation.state === "running") {
      await this.world.step(invocation);
      if (pace > 0) await this.pass(pace);
    }
  }

  /** Runs all waiting messages, one-shots and retries, then sweeps without faults: the second has nothing to do. */
  async settle(): Promise<void> {
    const { world } = this;
    this.#outages.end();
    for (const invocation of world.running) await this.finish(invocation);
    for (let messages = world.queue.due(); messages.length > 0; messages = world.queue.due())
      await world.finish(await world.deliver(messages));
    for (const oneShot of world.dueOneShots()) await world.finish(await world.fire(oneShot));
    for (const { payload, attempt, id } of world.retries.splice(0))
      await world.finish(await world.release(payload, 0, attempt, id));
    const alone = this.#leftAlone;
    await world.finish(await world.sweep());
    // From now on these nodes are left alone, because nobody took them: the next look may let others go in their place.
    if (this.#leftAlone > alone) await world.finish(await world.sweep());
    // The marks of a hold that is lost, or of another scope, may seem younger than the next hold's until a sweep removes them.
    if (this.#isMixed) await world.finish(await world.sweep());
    // A record names the nodes that would be held, and the first sweep may have freed one of them; auto writes each look.
    const { mode, auto } = world.settings;
    const writes = mode === "observe" || auto;
    const changes = writes ? /^(patch|remember|enqueue)/ : /^(patch|write|remember|enqueue)/;
    const before = world.calls.length;
    await world.finish(await world.sweep());
    const more = world.calls.slice(before).filter((call) => changes.test(call));
    must(more.length === 0, "a second sweep has nothing to do", () => more);
  }

  get #leftAlone(): number {
    const records = [...this.world.holds.records.values()];
    return records.reduce((sum, { account }) => sum + Object.keys(account?.leftAlone ?? {}).length, 0);
  }

  /** With auto, launches need an end. */
  #deploy(change: Partial<Deployed>): void {
    this.world.deploy(settingsOf(change));
    const { auto, maxHold } = this.world.settings;
    if (auto && maxHold === 0) this.world.deploy({ maxHold: minutes(45) });
  }

  async #begin({ pace, atOnce }: Begun, begin: () => Promise<Invocation>): Promise<void> {
    const { world } = this;
    const [oldest] = world.running;
    if (oldest && world.running.size >= mostAtWork) await this.finish(oldest);
    // No two functions begin in the same millisecond.
    await this.pass(1);
    const invocation = await begin();
    this.#paces.set(invocation, pace);
    if (atOnce === "all") await this.finish(invocation);
    if (atOnce !== "all but the list") return;
    const next = () => invocation.waiting.findIndex((call) => call !== "list");
    for (let which = next(); which >= 0; which = next()) await world.step(invocation, "done", which);
  }

  async #atWork(command: Extract<Command, { who: number }>): Promise<void> {
    const atWork = [...this.world.running];
    const invocation = atWork[command.who % Math.max(1, atWork.length)];
    if (!invocation) return;
    if (command.do === "crash") {
      invocation.crash();
      this.watcher.look(invocation, "crash");
    } else if (command.do === "fault") await this.world.step(invocation, command.verdict);
    else if (command.do === "finish") await this.finish(invocation);
    else for (let n = 0; n < command.times; n++) await this.world.step(invocation, "done", command.which);
  }

  #held(which: number): ScopeRecord | undefined {
    const held = [...this.world.holds.records.values()].filter(({ hold }) => hold);
    return held[which % Math.max(1, held.length)];
  }

  /** A person releases a scope and asks for it again, while a function that saw the release waits for its list of nodes. */
  async #askAgain(which: number): Promise<void> {
    const { scope, hold } = this.#held(which) ?? {};
    if (!scope || !hold) return;
    const [skew, pace] = [0, 0];
    const ask = (what: string) => this.world.ask({ do: what, scope, reason: "model" });
    await this.#begin({ skew, pace, atOnce: "all" }, () => ask("release"));
    const look = () => this.world.release({ scope, holdId: hold.id });
    await this.#begin({ skew, pace, atOnce: "all but the list" }, look);
    await this.#begin({ skew, pace, atOnce: "all" }, () => ask("hold"));
  }

  /** The hold in a record can no longer be read. */
  async #spoil(which: number): Promise<void> {
    const { scope } = this.#held(which) ?? {};
    if (!scope) return;
    this.#isMixed = true;
    await this.world.holds.spoil(scope);
    this.watcher.accept();
  }

  #lose({ what, which }: Extract<Command, { do: "lose" }>): void {
    const { queue, oneShots } = this.world;
    if (what === "one-shot") {
      const names = [...oneShots.armed.keys()];
      oneShots.armed.delete(names[which % Math.max(1, names.length)] ?? "");
      return;
    }
    const message = queue.messages[which % Math.max(1, queue.messages.length)];
    queue.messages = queue.messages.filter((one) => one !== message);
  }
}
