import { isDeepStrictEqual } from "node:util";
import { noBursts } from "../../../lambda/core/auto/bursts.ts";
import { after, type Duration, hours, minutes, seconds } from "../../../lambda/core/duration.ts";
import type { World } from "../../../simulator/world.ts";
import { mostSkew } from "../commands.ts";
import type { RecordChange, RecordRules } from "./record-rules.ts";
import { must } from "./watcher.ts";

/** Uses this close to each other are one burst. */
const sameBurst: Duration = minutes(1);

/** What bursts need is learned once, whatever is interrupted. */
export class LearnedRules {
  readonly #world: World;

  constructor(world: World, records: RecordRules) {
    this.#world = world;
    records.onChange((change) => {
      this.#checkBursts(change);
      this.#checkNoted(change);
      this.#checkLength(change);
      this.#checkWorth(change);
    });
  }

  #checkBursts({ before, record, facts }: RecordChange): void {
    const was = before.learned ?? noBursts;
    const is = record.learned ?? noBursts;
    must(is.largest >= was.largest, "no level is forgotten", facts);
    const [first] = is.idle;
    for (const { nodes, since } of was.idle) {
      const now = is.idle.find((levels) => levels.nodes >= nodes);
      must(
        !first || (now !== undefined && now.since >= since),
        "the last time that a level was needed never moves back",
        facts,
      );
    }
    const times = is.idle.map(({ since }) => since.getTime());
    must(
      isDeepStrictEqual(
        times,
        times.toSorted((a, b) => b - a),
      ),
      "a level is needed when a larger one is",
      facts,
    );
    must(!first || first.since <= after(this.#world.time, mostSkew), "no use lies in the future", facts);
  }

  #checkNoted({ before, record, facts }: RecordChange): void {
    const { hold, lastLaunchAt, learned } = record;
    const isNews = lastLaunchAt && lastLaunchAt > (before.lastLaunchAt ?? new Date(0));
    const usedAt = hold?.causes.usedAt;
    const isUsed = usedAt && usedAt.getTime() !== before.hold?.causes.usedAt?.getTime();
    const since = learned?.idle[0]?.since ?? new Date(0);
    must(!isNews || since >= lastLaunchAt, "every launch that counts is noted as a use", facts);
    must(!isUsed || since >= usedAt, "every use that extends is noted", facts);
  }

  #checkLength({ invocation, before, record: { hold }, facts }: RecordChange): void {
    const { auto, maxHold } = invocation.settings;
    const { length } = hold ?? {};
    if (!auto || !hold || !length || isDeepStrictEqual(length, before.hold?.length)) return;
    must(length.length <= (maxHold || hours(24)), "no learned length is beyond the cap", facts);
  }

  /** A node is idle for no longer than its hold lasts. */
  #checkWorth({ record: { hold }, facts }: RecordChange): void {
    if (!hold) return;
    const { idleTime = 0, spared = 0, startedAt } = hold;
    const lasted = after(this.#world.time, mostSkew).getTime() - startedAt.getTime() + seconds(1);
    const nodes = Math.max(hold.kept ?? 0, hold.burstNodes ?? 0, hold.launches);
    must(idleTime <= nodes * lasted, "no node is idle for longer than its hold lasts", facts);
    must(spared <= nodes * (lasted / sameBurst), "a relaunch is spared once a minute at most", facts);
  }
}
