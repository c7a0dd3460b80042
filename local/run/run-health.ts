import { after, type Duration, formatDuration, minutes, seconds } from "../../lambda/core/duration.ts";
import type { Changed, Clock, Metrics, Nodes } from "../../lambda/core/ports.ts";
import type { ScopeRecord } from "../../lambda/core/record.ts";
import { dueOf } from "../../lambda/core/requests.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import type { RunMetricName } from "../metrics/prometheus.ts";

/** A pass a minute releases what is due. */
const longestOverdue: Duration = minutes(3);

export type RunHealthOptions = Readonly<{
  settings: Pick<Rules, "hold"> & Rules & Readonly<{ sweepEvery: Duration }>;
  clock: Clock;
  metrics: Readonly<{ add: (name: RunMetricName, value: number) => void }> & Metrics;
  records: () => readonly ScopeRecord[];
  isSaved: () => boolean;
  isConnected: () => boolean;
}>;

/** Remembers how the last sweep and the last change of nodes went, to report what does not work. */
export class RunHealth {
  readonly #options: RunHealthOptions;
  #sweptAt: Date | undefined;
  #measuredFrom: Date | undefined;
  #hasSweepFailed = false;
  #canPatch = true;

  constructor(options: RunHealthOptions) {
    this.#options = options;
  }

  onSweep(error: unknown): void {
    this.#hasSweepFailed = error !== undefined;
    if (error === undefined) this.#sweptAt = this.#options.clock.now();
    else this.#options.metrics.add("SweepsFailed", 1);
  }

  /** The same nodes; what becomes of their changes is remembered. */
  watching(nodes: Nodes): Nodes {
    return {
      list: (...given) => nodes.list(...given),
      listMarked: (...given) => nodes.listMarked(...given),
      nodePools: (...given) => nodes.nodePools(...given),
      change: async (changes, context) => {
        try {
          const changed = await nodes.change(changes, context);
          // One node that cannot be patched says nothing about the others. Where the time was too short for any, patches hang.
          const isDone = changed.failed === 0 && !changed.left;
          this.#canPatch = isDone || succeeded(changed) > 0;
          return changed;
        } catch (error) {
          if (changes.length > 0) this.#canPatch = false;
          throw error;
        }
      },
    };
  }

  /** Why launches are not held, or nodes not released, as they should be. */
  get problems(): readonly string[] {
    const { settings, clock, isSaved, isConnected } = this.#options;
    const isLate = this.#sweptAt && after(this.#sweptAt, 2 * settings.sweepEvery + minutes(1)) < clock.now();
    const overdue = this.#overdue();
    return [
      ...(isConnected() ? [] : ["the watch of nodes is not connected"]),
      ...(this.#hasSweepFailed ? ["the last sweep failed"] : []),
      ...(isLate ? ["the last sweep was long ago"] : []),
      ...(this.#canPatch ? [] : ["nodes cannot be patched"]),
      ...(isSaved() ? [] : ["the record cannot be written"]),
      ...(overdue > longestOverdue ? [`a release is overdue by ${formatDuration(overdue)}`] : []),
    ];
  }

  /** Updates what metrics show of this moment. */
  measure(): void {
    const { metrics, isConnected, clock } = this.#options;
    this.#measuredFrom ??= clock.now();
    metrics.add("WatchConnected", isConnected() ? 1 : 0);
    metrics.add("OverdueSeconds", this.#overdue() / seconds(1));
    metrics.add("PausedSeconds", this.#paused() / seconds(1));
    // Without one, an alert on its age would be silent where no sweep ever succeeds.
    const passedAt = this.#sweptAt ?? this.#measuredFrom;
    metrics.add("LastPassTimestampSeconds", passedAt.getTime() / seconds(1));
  }

  #overdue(): Duration {
    const { records, settings, clock } = this.#options;
    const dues = records().flatMap((record) => {
      const due = record.hold && (record.hold.ended?.at ?? dueOf(record, settings));
      return due ? [clock.now().getTime() - due.getTime()] : [];
    });
    return Math.max(0, ...dues);
  }

  #paused(): Duration {
    const now = this.#options.clock.now();
    const pauses = this.#options
      .records()
      .flatMap(({ quiet }) => (quiet?.kind === "paused" && quiet.until > now ? [quiet.since] : []));
    return Math.max(0, ...pauses.map((since) => now.getTime() - since.getTime()));
  }
}

const succeeded = ({ marked, adopted, released, userHeld, kept }: Changed): number =>
  marked + adopted + released + userHeld + kept;
