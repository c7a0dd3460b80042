import { isDeepStrictEqual } from "node:util";
import { after } from "../../../lambda/core/duration.ts";
import { holdLabel } from "../../../lambda/core/marks/keys.ts";
import type { Figures, Hold, ScopeRecord } from "../../../lambda/core/record.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import type { World } from "../../../simulator/world.ts";
import type { Karpenter } from "../karpenter.ts";
import { must } from "./must.ts";
import {
  beginsBreather,
  belongs,
  heldUntil,
  isCapped,
  isCovered,
  isPaused,
  isWithin,
  launchEnd,
  silencedUntil,
} from "./oracle.ts";
import { rawEnd } from "./record-rules.ts";
import type { Records, Written } from "./records.ts";

/** What was seen of a hold: what history must report, and whether a hand made its record unreadable. */
type Life = { readonly scope: Scope; figures: Figures; isLost: boolean };

const total = ({ launches }: Pick<Figures, "launches">): number =>
  Object.values(launches).reduce((a, b) => a + b, 0);

/** When holds start and end, and what history reports of them. */
export class HoldRules {
  /** Every hold of the run, by its id. */
  readonly lives = new Map<string, Life>();
  /** The nodes whose mark a function must have removed before it closes a hold. */
  marksLeft: (written: Written, holdId: string) => readonly string[] = () => [];
  readonly #world: World;
  readonly #karpenter: Karpenter;
  readonly #records: Records;
  readonly #counted = new Set<string>();
  /** The last hold of each scope. */
  readonly #youngest = new Map<Scope, string>();

  constructor(world: World, karpenter: Karpenter, records: Records) {
    this.#world = world;
    this.#karpenter = karpenter;
    this.#records = records;
  }

  /** Whether nodes may have the mark of this hold. */
  isRunning(holdId: string): boolean {
    const life = this.lives.get(holdId);
    const hold = life && this.#records.current(life.scope).hold;
    return hold?.id === holdId && !hold.ended;
  }

  /** Whether the settings have changed the scope since: such a hold protects nothing, and a sweep ends it. */
  isOfOldScope(holdId: string, settings: Pick<Rules, "scope" | "nodePools">): boolean {
    const scope = this.lives.get(holdId)?.scope;
    return scope !== undefined && !belongs(settings, scope);
  }

  /** A hand made a record unreadable: its content counts as never written. */
  lost({ scope, hold }: ScopeRecord): void {
    const life = hold && this.lives.get(hold.id);
    if (life) life.isLost = true;
    this.#youngest.delete(scope);
    for (const one of this.#counted) if (one.startsWith(`${scope} `)) this.#counted.delete(one);
  }

  check(written: Written): void {
    const { before, record, from, to, known, facts } = written;
    const { hold } = record;
    const isOn = hold !== undefined && !hold.ended;
    const mayBeHeld = known.some((one) => heldUntil(one, from, to));
    const mustBeHeld = known.every((one) => heldUntil(one, to, from));
    must(!isOn || mayBeHeld, "nothing is held without a launch or a request", facts);
    must(isOn || !mustBeHeld, "a launch or a request holds until its end", facts);
    if (before.hold && !before.hold.ended && hold?.ended) this.#checkJobs(written);
    const old = before.hold;
    if (old && old.id !== hold?.id) this.#checkClosed(written, old);
    if (hold && old?.id === hold.id) checkChanged(written, old, hold);
    else if (hold) this.#checkStarted(written, hold);
    this.#checkFigures(written, isOn);
  }

  /** A hold of launches ends with the Jobs of its nodes that are not drifted, a day later, or by hand. */
  #checkJobs({ by, before, record, to, known, facts }: Written): void {
    const { launchHold, hold } = before;
    const isSilenced = known.some(
      (one) => (launchHold?.lastLaunchAt ?? 0) < silencedUntil(one) || isPaused(one, to),
    );
    if (!by.settings.auto || !launchHold || launchHold.isConstant || isSilenced) return;
    if (
      !belongs(by.settings, record.scope) ||
      launchEnd({ ...launchHold, isEnding: true }, by.settings) <= to
    )
      return;
    const busy = this.#world.nodes.all().filter(({ name, instance, labels, pool }) => {
      const { pods, since = to } = this.#karpenter.loads.get(name) ?? {};
      const driftedAt = this.#karpenter.driftedAt(instance);
      const isDrifted = driftedAt !== undefined && after(driftedAt, by.settings.driftWait) <= to;
      const isOurs = labels[holdLabel] === hold?.id && isCovered(by.settings, pool);
      return isOurs && !isDrifted && pods === "job" && since < by.begunAt;
    });
    must(busy.length === 0, "a hold of launches ends after the Jobs of its nodes", () => [busy, facts()]);
  }

  #checkStarted({ scope, record, facts }: Written, hold: Hold): void {
    must(!hold.ended, "a hold starts before it ends", facts);
    must(!this.lives.has(hold.id), "a hold's id is unique", facts);
    must(hold.id > (this.#youngest.get(scope) ?? ""), "the ids of a scope only grow", facts);
    this.#youngest.set(scope, hold.id);
    this.lives.set(hold.id, { scope, figures: record.figures, isLost: false });
  }

  #checkClosed(written: Written, { id, ended }: Hold): void {
    const { record, facts } = written;
    must(ended !== undefined, "no running hold is closed or replaced", facts);
    must(this.#world.journal.past.has(id), "a hold that is closed is in history first", facts);
    // The marks of a hold that another one follows are the younger one's to take over.
    const left = record.hold ? [] : this.marksLeft(written, id);
    must(left.length === 0, "a hold is closed when its marks are removed", () => ({
      left,
      ...Object(facts()),
    }));
  }

  /** What a write adds to what history reports. */
  #checkFigures(written: Written, isOn: boolean): void {
    const { by, scope, before, record, from, to, known, facts } = written;
    const { hold, figures } = record;
    const isBreather = beginsBreather(before, record);
    // A breather that begins silences what comes, not what was.
    const silences = known.map((one) => ({ ...one, record: isBreather ? before : record }));
    const news = Object.entries(record.seen).filter(([instance]) => !before.seen[instance]);
    for (const [instance] of news) {
      const launch = this.#karpenter.launches.find(
        (one) => one.instance === instance || one.node === instance,
      );
      must(
        launch !== undefined && isWithin(scope, launch.pool),
        "only launches of the scope are counted",
        facts,
      );
      must(!this.#counted.has(`${scope} ${instance}`), "a launch is counted once", facts);
      this.#counted.add(`${scope} ${instance}`);
    }
    const life = hold && this.lives.get(hold.id);
    if (!life || !isOn) return;
    life.figures = figures;
    const isNew = before.hold?.id !== hold.id;
    const old = isNew ? { launches: {}, extensions: 0, capped: false } : before.figures;
    // A launch in the future, by a clock that is behind, counts from now.
    const counts = (when: "some" | "every", now: Date) =>
      news.filter(([, at]) => silences[when]((one) => (at < now ? at : now) >= silencedUntil(one))).length;
    const counted = total(figures) - total(old);
    const isRight = counted >= counts("every", from) && counted <= counts("some", to);
    must(isRight, "each launch that holds is counted once", facts);
    const isExtended = !isNew && rawEnd(record, by.settings) > rawEnd(before, by.settings);
    must(figures.extensions === old.extensions + Number(isExtended), "each extension is counted once", facts);
    const { launchHold } = record;
    const isCut = isBreather || (launchHold !== undefined && isCapped(launchHold, by.settings));
    must(figures.capped === (old.capped || isCut), "a hold that reaches its cap says so", facts);
    this.#checkRemoved(written);
  }

  /** A function whose list of nodes is older than the record may miscount. */
  #checkRemoved({ by, scope, before, record, facts }: Written): void {
    if (this.#records.since(by, scope).length > 2) return;
    const removedIn = ({ figures }: ScopeRecord) => figures.observed?.removed ?? 0;
    const wentSince = removedIn(record) - (before.hold?.id === record.hold?.id ? removedIn(before) : 0);
    const gone = Object.keys(before.hold?.watched?.nodes ?? {}).filter((name) => {
      const node = this.#world.nodes.get(name);
      return !node || !isCovered(by.settings, node.pool);
    });
    must(wentSince <= gone.length, "only nodes that went are counted as removed", facts);
    must(by.settings.mode === "observe" || wentSince <= 0, "what holds counts no node as removed", facts);
  }

  /** History has every hold that ended, with the figures that were recorded last. */
  atRest(): void {
    const { past } = this.#world.journal;
    for (const { scope, hold } of this.#world.holds.records.values())
      must(hold === undefined, "every hold ends", () => ({ scope, hold }));
    for (const [id, life] of this.lives) {
      const entry = past.get(id);
      if (life.isLost) continue;
      const facts = () => ({ id, entry, life });
      must(entry !== undefined, "every hold is in history", facts);
      must(entry.scope === life.scope, "history has the scope", facts);
      const { observed: _, ...figures } = life.figures;
      for (const [name, value] of Object.entries(figures))
        must(isDeepStrictEqual(Reflect.get(entry, name), value), `history has the ${name}`, facts);
    }
    const unknown = [...past.keys()].filter((id) => !this.lives.has(id));
    must(unknown.length === 0, "history has nothing else", () => unknown);
  }

  /** After history was written: nothing that still runs is in it. */
  checkHistory(): void {
    for (const { id } of this.#world.journal.past.values())
      must(!this.isRunning(id), "no running hold is in history", () => id);
  }
}

function checkChanged({ by, before, to, facts }: Written, old: Hold, hold: Hold): void {
  must(!old.ended || isDeepStrictEqual(old.ended, hold.ended), "the end of a hold is never undone", facts);
  if (old.ended || !hold.ended) return;
  const isCut = rawEnd(before, by.settings) > to;
  must(!isCut || hold.ended.because !== "the hold expired", "a hold that is cut short says why", facts);
}
