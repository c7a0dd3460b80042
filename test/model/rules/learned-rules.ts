import { isDeepStrictEqual } from "node:util";
import type { Learned } from "../../../lambda/core/auto/learned.ts";
import { after, type Duration, hours, minutes, seconds } from "../../../lambda/core/duration.ts";
import type { World } from "../../../simulator/world.ts";
import { mostSkew } from "../commands.ts";
import type { RecordChange, RecordRules } from "./record-rules.ts";
import { must } from "./watcher.ts";

/** Uses this close to each other are one burst. */
const sameBurst: Duration = minutes(1);
const nothing: Learned = { gaps: [], debt: 0 };

/** With `hold=auto`, each gap between two bursts is learned once, whatever is interrupted. */
export class LearnedRules {
  readonly #world: World;

  constructor(world: World, records: RecordRules) {
    this.#world = world;
    records.onChange((change) => {
      this.#checkGaps(change);
      this.#checkNoted(change);
      this.#checkLength(change);
    });
  }

  #checkGaps({ invocation, before, record, facts }: RecordChange): void {
    const was = before.learned ?? nothing;
    const is = record.learned ?? nothing;
    must(isDeepStrictEqual(is.gaps.slice(0, was.gaps.length), was.gaps), "no gap is forgotten", facts);
    if (is.idle && was.idle) must(is.idle.since >= was.idle.since, "the last use never moves back", facts);
    const [gap, ...more] = is.gaps.slice(was.gaps.length);
    if (!gap) return;
    must(more.length === 0 && was.idle !== undefined, "a gap is counted once", facts);
    must(
      invocation.settings.auto !== undefined || gap.atMost === undefined,
      "nothing is learned without hold=auto",
      facts,
    );
    must(gap.nodes === was.idle.nodes, "a gap is of the nodes that were idle", facts);
    must(!is.idle || is.idle.since > was.idle.since, "gaps never overlap", facts);
    const end = is.idle?.since ?? after(this.#world.time, mostSkew);
    const longest = end.getTime() - was.idle.since.getTime() + seconds(1);
    must((gap.atMost ?? gap.atLeast) <= longest, "a gap ends with the next use", facts);
  }

  #checkNoted({ invocation, before, record, facts }: RecordChange): void {
    if (!invocation.settings.auto) return;
    const { hold, lastLaunchAt, learned } = record;
    const isNews = lastLaunchAt && lastLaunchAt > (before.lastLaunchAt ?? new Date(0));
    const usedAt = hold?.causes.usedAt;
    const isUsed = usedAt && usedAt.getTime() !== before.hold?.causes.usedAt?.getTime();
    const since = learned?.idle?.since ?? new Date(0);
    must(!isNews || since >= lastLaunchAt, "every launch that counts is noted as a use", facts);
    must(!isUsed || since >= usedAt, "every use that extends is noted", facts);
    const { idle, gaps } = before.learned ?? nothing;
    if (!isNews || !idle || before.hold?.state === "held" || !hold?.burstFrom) return;
    const isGap = hold.burstFrom >= after(idle.since, sameBurst);
    must(!isGap || learned?.gaps.length === gaps.length + 1, "a gap that has ended is learned", facts);
  }

  #checkLength({ invocation, before, record: { hold }, facts }: RecordChange): void {
    const { auto, maxHold } = invocation.settings;
    const { length } = hold ?? {};
    if (!auto || !hold || !length || isDeepStrictEqual(length, before.hold?.length)) return;
    must(length.length <= (maxHold || hours(24)), "no learned length is beyond the cap", facts);
  }
}
