import { after, type Duration, minutes } from "../../../lambda/core/duration.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import type { World } from "../../../simulator/world.ts";
import type { Karpenter } from "../karpenter.ts";
import { checkBounds } from "./bounds.ts";
import { Duties } from "./duties.ts";
import { HoldRules } from "./hold-rules.ts";
import { scopesOf } from "./inputs.ts";
import { must } from "./must.ts";
import { NodeRules } from "./node-rules.ts";
import { heldUntil } from "./oracle.ts";
import { overdue, type Seen } from "./pays-rules.ts";
import { RecordRules } from "./record-rules.ts";
import { Records, type Written } from "./records.ts";
import { type Unfinished, unfinished } from "./unfinished.ts";

/** Checks the rules after every step, and what a pass without faults must repair. */
export class Watcher {
  readonly #world: World;
  readonly #karpenter: Karpenter;
  readonly #skew: Duration;
  readonly #records: Records;
  readonly #recordRules: RecordRules;
  readonly #holds: HoldRules;
  readonly #nodes: NodeRules;
  readonly #duties: Duties;
  /** What was unfinished when an invocation began, and has been ever since. */
  readonly #passes = new Map<Invocation, Map<string, Unfinished>>();
  readonly #seen: Seen = { asked: new Map(), alone: new Map() };
  /** Functions that ran when other settings were deployed, and until the last of them has ended. */
  #isMixed = false;

  constructor(world: World, karpenter: Karpenter, skew: Duration) {
    this.#world = world;
    this.#karpenter = karpenter;
    this.#skew = skew;
    this.#records = new Records(world);
    this.#recordRules = new RecordRules(world, karpenter);
    this.#holds = new HoldRules(world, karpenter, this.#records);
    const facts = { world, karpenter, records: this.#records, holds: this.#holds };
    this.#nodes = new NodeRules(facts);
    this.#duties = new Duties(facts);
  }

  /** Changes by users and by time since the last look break no rule. */
  accept(): void {
    this.#nodes.accept();
    for (const { before } of this.#records.news()) this.#holds.lost(before);
    this.#watchPasses();
  }

  look(by: Invocation, call: string): void {
    if (call === "") this.#begun(by);
    for (const { before, record } of this.#records.news()) this.#checkWritten(by, before, record);
    this.#nodes.look(by, call);
    if (call === "remember") this.#holds.checkHistory();
    checkBounds(this.#world, by, call);
    this.#watchPasses();
    if (by.state !== "running") this.#ended(by);
  }

  /** The settings have changed; a pass that runs does not know them. */
  deployed(): void {
    this.#passes.clear();
    this.#isMixed = this.#world.running.size > 0;
  }

  /** What is not as it must be, with the calls that each of it needs. */
  unfinished(): readonly Unfinished[] {
    const [world, karpenter, records, holds] = [this.#world, this.#karpenter, this.#records, this.#holds];
    return [...unfinished({ world, karpenter, records, holds, skew: this.#skew })];
  }

  /** What a good day lets go of too late. */
  overdue(): readonly string[] {
    const facts = { world: this.#world, karpenter: this.#karpenter, records: this.#records };
    return [...overdue(facts, this.#seen)];
  }

  /** What must be true long after the last launch and request, when all work is finished. */
  atRest(): void {
    this.#holds.atRest();
    this.#nodes.atRest();
    must(this.#world.running.size === 0, "every function ends");
    must(this.#world.queue.messages.length === 0, "the queue gets empty", () => this.#world.queue.messages);
  }

  #begun(by: Invocation): void {
    this.#karpenter.begun(by);
    this.#records.begun(by);
    this.#nodes.begun(by);
    this.#duties.begun(by);
    const scopes = scopesOf(by);
    if (scopes.length === 0 || this.#isMixed) return;
    const own = this.unfinished().filter(
      ({ scope, isForSweeps }) => scopes === "all" || (scopes.includes(scope) && !isForSweeps),
    );
    this.#passes.set(by, new Map(own.map((one) => [one.text, one])));
  }

  #checkWritten(by: Invocation, before: Written["before"], record: Written["record"]): void {
    const { scope } = record;
    const from = after(by.begunAt, by.skew);
    const to = after(this.#world.time, by.skew);
    const known = this.#records.knownSince(by, scope, [record]);
    const facts = () => ({ by: by.name, before, record, from, to, settings: by.settings });
    const written: Written = { by, scope, before, record, from, to, known, facts };
    this.#leaveToOthers(by, scope);
    // A launch that was not recorded held until after the plan: when its time is over by the write, the next pass ends it.
    if (heldUntil(this.#records.known(scope), from))
      this.#forget(by, (one) => one.scope === scope && one.isOver);
    this.#recordRules.check(written);
    this.#holds.check(written);
  }

  /** A hold is closed only where no other function has written meanwhile: this one has seen that it is over, too. */
  #leaveToOthers(writer: Invocation, scope: Scope): void {
    for (const by of this.#passes.keys())
      if (by !== writer) this.#forget(by, (one) => one.scope === scope && one.isClosing);
  }

  #forget(by: Invocation, isExcused: (one: Unfinished) => boolean | undefined): void {
    const found = this.#passes.get(by);
    for (const [text, one] of found ?? []) if (isExcused(one)) found?.delete(text);
  }

  #watchPasses(): void {
    const open = [...this.#passes.values()].filter(({ size }) => size > 0);
    if (open.length === 0) return;
    const left = new Set(this.unfinished().map(({ text }) => text));
    for (const found of open) for (const text of found.keys()) if (!left.has(text)) found.delete(text);
  }

  #ended(by: Invocation): void {
    const found = this.#passes.get(by);
    this.#passes.delete(by);
    const isMixed = this.#isMixed || by.settings !== this.#world.settings;
    if (this.#world.running.size === 0) this.#isMixed = false;
    const failed = [...by.refused, ...by.late];
    const isCrashed = by.state === "crashed" || by.wasDisturbed;
    if (isCrashed) return;
    const isHindered = failed.some((call) => !/^(patch|get|claims|arm|enqueue)/.test(call));
    if (!isHindered && by.name !== "control" && failed.length === 0)
      must(by.state === "done", "a function without faults succeeds", () => `${by.name}: ${by.answer}`);
    if (!isHindered && !isMixed && failed.every((call) => !/^(arm|enqueue)/.test(call)))
      this.#duties.ended(by);
    // It gives up what is left when its time is over.
    const isLate = this.#world.time > after(by.begunAt, minutes(4));
    if (!found || isHindered || isMixed || isLate) return;
    const rest = [...found.values()].filter(
      ({ needs }) =>
        !needs.some((need) => failed.some((call) => call === need || call.startsWith(`${need} `))),
    );
    must(rest.length === 0, "a pass without faults leaves nothing to repair", () => ({
      by: by.name,
      rest,
      failed,
    }));
  }
}
