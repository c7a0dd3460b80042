import { after, type Duration, seconds } from "../../../lambda/core/duration.ts";
import { holdLabel } from "../../../lambda/core/marks/keys.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import type { World } from "../../../simulator/world.ts";
import type { Karpenter } from "../karpenter.ts";
import { checkBounds } from "./bounds.ts";
import { DemandRules } from "./demand-rules.ts";
import { HistoryRules } from "./history-rules.ts";
import { JoinRules } from "./join-rules.ts";
import { LearnedRules } from "./learned-rules.ts";
import { LetGoRules } from "./let-go-rules.ts";
import { NodeRules } from "./node-rules.ts";
import { PromiseRules } from "./promise-rules.ts";
import { RecordRules } from "./record-rules.ts";
import { unhealed } from "./unhealed.ts";
import { UseRules } from "./use-rules.ts";

/** A rule that was broken. */
export class Broken extends Error {}

export function must(isTrue: boolean, rule: string, facts: () => unknown = () => ""): asserts isTrue {
  if (!isTrue) throw new Broken(`${rule} ${JSON.stringify(facts())}`);
}

/** A sweep with slower calls need not finish: it gives up a node that does not answer within 15 seconds. */
const longestUndisturbed: Duration = seconds(10);

/** Checks the rules after every step, and what one undisturbed sweep must repair. */
export class Watcher {
  readonly #world: World;
  readonly letGo: LetGoRules;
  readonly #nodes: NodeRules;
  readonly #records: RecordRules;
  readonly #history: HistoryRules;
  readonly #promises: PromiseRules;
  readonly #joins: JoinRules;
  readonly #demand: DemandRules;
  readonly #karpenter: Karpenter;
  /** What needed repair when a sweep started, and has needed it ever since. */
  readonly #sweeps = new Map<Invocation, Set<string>>();

  /** The nodes that an invocation could not change, and the holds whose marks these had. */
  readonly #refused = new WeakMap<Invocation, readonly string[]>();

  /** The calls that fail until they are repaired. */
  readonly broken = new Set<string>();

  constructor(world: World, karpenter: Karpenter) {
    this.#world = world;
    this.#karpenter = karpenter;
    this.#records = new RecordRules(world);
    this.letGo = new LetGoRules(world, karpenter, this.#records);
    this.#nodes = new NodeRules(world, this.#records, this.letGo);
    this.#history = new HistoryRules(world, this.#records);
    const { records, demand } = {
      records: this.#records,
      demand: new DemandRules(world, karpenter, this.#records),
    };
    this.#demand = demand;
    new LearnedRules(world, records);
    new UseRules(world, { karpenter, records, demand });
    this.#promises = new PromiseRules(world, records, demand);
    this.#joins = new JoinRules(world, records);
  }

  /** Changes by users and by time since the last check break no rule. */
  accept(): void {
    this.#nodes.accept();
    this.#watchSweeps();
  }

  look(invocation: Invocation, call: string): void {
    this.#noteRefused(invocation, call);
    if (call === "") this.#karpenter.begun(invocation);
    if (call === "") this.#demand.begun(invocation);
    if (invocation.state !== "running") this.#demand.ended(invocation);
    this.#joins.look();
    this.#records.check(invocation);
    this.#nodes.check(invocation);
    this.letGo.check(invocation, call);
    this.#history.check(call);
    this.#promises.check(invocation, call);
    checkBounds(this.#world, invocation, call);
    if (invocation.name === "sweep" && call === "")
      this.#sweeps.set(invocation, new Set(unhealed(this.#world, this.#karpenter, this.letGo)));
    this.#watchSweeps();
    this.#endSweep(invocation);
  }

  /** The settings have changed; a running sweep does not know them. */
  deployed(): void {
    this.#sweeps.clear();
    this.letGo.excuseAll();
  }

  /** What must be true long after the last launch, when all work is finished. */
  atRest(): void {
    this.#history.atRest();
    this.#nodes.atRest();
    must(this.#world.running.size === 0, "every function ends");
    must(this.#world.queue.messages.length === 0, "the queue gets empty", () => this.#world.queue.messages);
  }

  #watchSweeps(): void {
    if (this.#sweeps.size === 0) return;
    const ill = new Set(unhealed(this.#world, this.#karpenter, this.letGo));
    for (const found of this.#sweeps.values()) for (const one of found) if (!ill.has(one)) found.delete(one);
  }

  #endSweep(invocation: Invocation): void {
    const found = this.#sweeps.get(invocation);
    if (!found || invocation.state === "running") return;
    this.#sweeps.delete(invocation);
    // A slow part of a sweep leaves the rest to the next sweep.
    const isSlow = this.#world.time > after(invocation.begunAt, longestUndisturbed);
    if (invocation.wasDisturbed || invocation.late.length > 0 || isSlow) return;
    const { refused } = invocation;
    if (!refused.every((call) => call.startsWith("patch ") || call === "pods")) return;
    must(invocation.state === "done", "an undisturbed sweep succeeds", () => `${invocation.answer}`);
    if (refused.every((call) => call === "pods"))
      must(found.size === 0, "one sweep repairs everything", () => [...found]);
    const names = this.#refused.get(invocation) ?? [];
    const isAbout = (line: string) => line.split(/[ ,]+/).some((word) => names.includes(word));
    const rest = [...found].filter((line) => !isAbout(line));
    must(rest.length === 0, "a node that cannot be changed does not delay others", () => ({
      rest,
      refused,
    }));
  }

  /** Notes a node that could not be changed, and the hold whose mark it had then. */
  #noteRefused(invocation: Invocation, call: string): void {
    if (!call.startsWith("patch ") || !invocation.refused.includes(call)) return;
    const name = call.slice("patch ".length);
    const label = this.#world.nodes.get(name)?.labels[holdLabel];
    const noted = this.#refused.get(invocation) ?? [];
    this.#refused.set(invocation, [...noted, name, ...(label ? [label] : [])]);
  }
}
