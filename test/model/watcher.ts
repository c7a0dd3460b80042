import type { Invocation } from "../../simulator/invocation.ts";
import type { World } from "../../simulator/world.ts";
import { HistoryRules } from "./history-rules.ts";
import { NodeRules } from "./node-rules.ts";
import { PromiseRules } from "./promise-rules.ts";
import { RecordRules } from "./record-rules.ts";
import { unhealed } from "./unhealed.ts";

/** A rule that was broken. */
export class Broken extends Error {}

export function must(isTrue: boolean, rule: string, facts: () => unknown = () => ""): asserts isTrue {
  if (!isTrue) throw new Broken(`${rule} ${JSON.stringify(facts())}`);
}

/** Looks at the world after every step, and at what one undisturbed sweep must have healed. */
export class Watcher {
  readonly #world: World;
  readonly #nodes: NodeRules;
  readonly #records: RecordRules;
  readonly #history: HistoryRules;
  readonly #promises: PromiseRules;
  /** What was ill when a sweep began, and has been ever since. */
  readonly #sweeps = new Map<Invocation, Set<string>>();

  constructor(world: World) {
    this.#world = world;
    this.#records = new RecordRules(world);
    this.#nodes = new NodeRules(world, this.#records);
    this.#history = new HistoryRules(world, this.#records);
    this.#promises = new PromiseRules(world, this.#records);
  }

  /** What users and time did since the last look is no one's fault. */
  accept(): void {
    this.#nodes.accept();
    this.#watchSweeps();
  }

  look(invocation: Invocation, call: string): void {
    this.#records.check(invocation);
    this.#nodes.check(invocation);
    this.#history.check(call);
    this.#promises.check(invocation, call);
    if (invocation.name === "sweep" && call === "")
      this.#sweeps.set(invocation, new Set(unhealed(this.#world)));
    this.#watchSweeps();
    this.#endSweep(invocation);
  }

  /** What must be true when nothing has been launched for long and everything had its time. */
  atRest(): void {
    this.#history.atRest();
    this.#nodes.atRest();
    must(this.#world.running.size === 0, "every function ends");
    must(this.#world.queue.messages.length === 0, "every waiting ends", () => this.#world.queue.messages);
  }

  #watchSweeps(): void {
    if (this.#sweeps.size === 0) return;
    const ill = new Set(unhealed(this.#world));
    for (const found of this.#sweeps.values()) for (const one of found) if (!ill.has(one)) found.delete(one);
  }

  #endSweep(invocation: Invocation): void {
    const found = this.#sweeps.get(invocation);
    if (!found || invocation.state === "running") return;
    this.#sweeps.delete(invocation);
    const isLate = this.#world.time.getTime() + invocation.skew >= invocation.deadline.getTime();
    if (invocation.wasHindered || isLate) return;
    must(invocation.state === "done", "a sweep that nothing hinders succeeds", () => `${invocation.answer}`);
    must(found.size === 0, "one sweep heals all", () => [...found]);
  }
}
