import { unwatched } from "../auto/observe.ts";
import { dueAt, fenced, type Hold, type ScopeRecord, type Watermark } from "../holds/hold.ts";
import type { CallContext } from "../ports.ts";
import { fence } from "../releases/decide-release.ts";
import { isKept, type Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";

/** What a hold needs so that record, nodes and clock agree again. */
export type SweepDecision =
  | Readonly<{ action: "leave"; because: string; record?: never }>
  | Readonly<{ action: "keep" | "outlast"; hold: Hold; armFor: Date; because: string; record?: never }>
  | Readonly<{ action: "release"; hold: Hold; because: string; record?: ScopeRecord }>;

type SweepFacts = Readonly<{ record: ScopeRecord; watermark: Watermark; rules: Rules; now: Date }>;

/** Compares one record with the clock, from scratch: whatever events lost is made up for. */
export function decideSweep({ record, watermark, rules, now }: SweepFacts): SweepDecision {
  const { hold } = record;
  if (!hold) return { action: "leave", because: "nothing is held" };
  if (hold.state === "releasing") {
    return { action: "release", hold, because: "its release was not finished" };
  }
  // A launch that was decided while the whole cluster was paused or released.
  if (hold.causedAt < watermark.from) return stop(record, hold, "its launches no longer count", now);

  const due = dueAt(hold, rules);
  if (now >= due) return fence({ record, hold, rules, now });
  const armFor = hold.armedFor && hold.armedFor > now ? hold.armedFor : due;
  if (isKept(rules, record.scope)) return { action: "keep", hold, armFor, because: "the hold goes on" };
  // Nothing marks for it any more, but what it protects stays protected; holds of the new scope adopt its marks.
  return {
    action: "outlast",
    hold,
    armFor,
    because: "holds are kept in another scope now: this one goes on until it expires",
  };
}

export function logSweepDecision({ log }: CallContext, scope: Scope, decision: SweepDecision): void {
  log.info("sweep decided", {
    scope,
    action: decision.action,
    because: decision.because,
    ...(decision.action !== "leave" && { holdId: decision.hold.id }),
  });
}

/** No watermark: that of the whole cluster would end the holds of all NodePools. */
function stop(record: ScopeRecord, hold: Hold, because: string, now: Date): SweepDecision {
  const over = fenced(hold, because);
  return { action: "release", hold: over, record: { ...unwatched(record, now), hold: over }, because };
}
