import { after, hours, minutes } from "../../../lambda/core/duration.ts";
import type { Quiet } from "../../../lambda/core/record.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import { wholeSecond } from "../../../simulator/fake-ec2.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import type { World } from "../../../simulator/world.ts";
import type { Karpenter } from "../karpenter.ts";
import { type Asked, askedOf, launchesOf, type Wish, wishesOf } from "./inputs.ts";
import { must } from "./must.ts";
import {
  belongs,
  isCovered,
  isPaused,
  type Known,
  latest,
  lengthOf,
  releasedAt,
  requestsOf,
  scopeFor,
  silencedUntil,
} from "./oracle.ts";
import type { Records } from "./records.ts";

type Facts = Readonly<{ world: World; karpenter: Karpenter; records: Records }>;

/** What a function without faults has done when it ends: everything that it was given has been recorded. */
export class Duties {
  readonly #facts: Facts;
  /** The launches that an invocation was given and EC2 knew. */
  readonly #known = new WeakMap<Invocation, readonly string[]>();

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  begun(by: Invocation): void {
    const { ec2 } = this.#facts.world;
    const known = [...launchesOf(by)].filter((one) => ec2.instances.has(one) && !ec2.unlisted.has(one));
    this.#known.set(by, known);
  }

  ended(by: Invocation): void {
    const asked = askedOf(by);
    if (by.name === "hold") {
      for (const instance of this.#known.get(by) ?? []) this.#checkLaunch(by, instance);
      for (const wish of wishesOf(by)) this.#checkWish(by, wish);
    }
    // A retry spares what began since the first attempt.
    if (!asked || by.attempt > 0) return;
    if (asked.do === "hold") this.#checkAnswer(by);
    else if (by.state === "done") this.#checkDone(by, asked);
  }

  /** Every launch holds its scope, unless it is not ours, not due yet, over, or silenced. */
  #checkLaunch(by: Invocation, instance: string): void {
    const { world, karpenter, records } = this.#facts;
    const { settings, begunAt, skew, messages } = by;
    const launch = karpenter.launches.find((one) => one.instance === instance);
    if (!launch || !isCovered(settings, launch.pool)) return;
    if (!world.ec2.instances.has(instance)) return;
    const [, launchedAt = new Date(0)] = launch.times;
    const from = after(begunAt, skew);
    const to = after(world.time, skew);
    if (after(launchedAt, settings.initialDelay) > from || after(launchedAt, lengthOf(settings)) <= to)
      return;
    const versions = records.knownSince(by, scopeFor(settings, launch.pool));
    // In the second of the end of a silence, its delay counts from there.
    const waits = (known: Known) => {
      const end = silencedUntil(known);
      return launchedAt >= wholeSecond(end) && after(end, settings.initialDelay) > from;
    };
    if (settings.initialDelay > 0 && versions.some(waits)) return;
    const at = launchedAt < from ? launchedAt : from;
    const isOld = after(launchedAt, minutes(15)) <= to;
    const isSilenced = (known: Known) => {
      const end = silencedUntil(known);
      if (at >= end || at < wholeSecond(end)) return at < end;
      // In the second of the end: it came before if it was known by then.
      const seen = known.record.seen[instance];
      return isOld || end >= from || (seen !== undefined && seen < end);
    };
    const isHeld = versions.some(
      (known) => isSilenced(known) || (known.record.launchHold?.lastLaunchAt ?? new Date(0)) >= at,
    );
    must(isHeld, "a launch that is handled is held", () => ({ launch, messages, versions }));
    const isCounted = isOld || versions.some(({ record }) => record.seen[instance]);
    must(isCounted, "a launch that is handled is counted", () => ({ launch, versions }));
  }

  /** Every event and window is recorded, unless it is over, released, too long, or no scope of the settings. */
  #checkWish(by: Invocation, { scope, name, cause, at: began = by.begunAt, for: length }: Wish): void {
    const { world, records } = this.#facts;
    const { settings, skew, begunAt } = by;
    const from = after(begunAt, skew);
    const to = after(world.time, skew);
    if (!belongs(settings, scope) || (cause === "event" && length > settings.maxRequest)) return;
    const at = began < from ? began : from;
    const until = after(at, length);
    if (until <= to) return;
    const isRecorded = records.knownSince(by, scope).some((known) => {
      const { requests } = known.record;
      const own = requests.find((one) => one.name === name);
      const isReleased = at < releasedAt(known) || (own?.releasedAt && at <= own.releasedAt);
      const isByHand = own?.cause === "person" && at <= own.at;
      const isFull = requests.length >= 50;
      return isReleased || isByHand || isFull || (own && own.until >= until);
    });
    must(isRecorded, "an event or a window is recorded", () => ({
      name,
      scope,
      versions: records.since(by, scope),
    }));
  }

  /** A person gets what they asked for, or an error. */
  #checkAnswer(by: Invocation): void {
    const { world, records } = this.#facts;
    const { settings, skew, begunAt, state, answer } = by;
    const [wish] = wishesOf(by);
    if (!wish) return;
    const isPausedNow = (scope: Scope, now: Date) =>
      records.knownSince(by, scope).every((one) => isPaused(one, now));
    const mustRefuse = !belongs(settings, wish.scope) || wish.for > settings.maxRequest;
    const from = after(begunAt, skew);
    const to = after(world.time, skew);
    const facts = () => ({ wish, state, answer: `${JSON.stringify(answer)} ${answer}` });
    const isRefused = state === "failed";
    must(isRefused || !(mustRefuse || isPausedNow(wish.scope, to)), "what cannot be held is refused", facts);
    if (isRefused) return;
    const { until, heldUntil } = answer as Readonly<{ until?: Date; heldUntil?: Date }>;
    const released = latest(records.knownSince(by, wish.scope).map((known) => releasedAt(known)));
    must(until !== undefined || released > from, "a person is answered until when the nodes are held", facts);
    if (!until) return;
    const isAsked = until >= after(from, wish.for) && until <= after(latest([to, released]), wish.for);
    must(isAsked, "a request lasts as long as was asked for", facts);
    must(heldUntil !== undefined && heldUntil >= until, "the scope is held until the request's end", facts);
  }

  /** What was answered as done was recorded. */
  #checkDone(by: Invocation, { do: what, scope, name, askedAt, for: length = hours(24) }: Asked): void {
    const { world, records } = this.#facts;
    const from = after(by.begunAt, by.skew);
    const to = after(world.time, by.skew);
    const versions = records.since(by, scope);
    const at = askedAt && askedAt < from ? askedAt : from;
    const isAsked = ({ until }: Quiet) => until >= after(from, length) && until <= after(to, length);
    // A forced release of the whole cluster may have ended the request just before.
    const isOver = (known: Known) => requestsOf(known).every((one) => one.name !== name);
    const isDone = versions.some(({ released, quiet }) => {
      if (what === "pause") return quiet?.kind === "paused" && isAsked(quiet);
      if (what === "resume")
        return !quiet || quiet.until <= to || quiet.until.getTime() === quiet.since.getTime();
      if (name === undefined) return released !== undefined && released.at >= at;
      return records.knownSince(by, scope).some(isOver);
    });
    must(isDone, "what was done by hand was recorded", () => ({ what, scope, name, versions }));
  }
}
