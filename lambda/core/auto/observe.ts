import type { ScopeRecord } from "../holds/hold.ts";
import { longestHold, type Rules } from "../rules.ts";
import { decideHoldLength, type HoldLength } from "./decide-hold-length.ts";
import { forgetIdle, type Learned, learnFromUse, nothingLearned, stopWatching, type Use } from "./learned.ts";

/** A scope after a use, and the rules for its hold from this use on. */
export type Observed = Readonly<{ record: ScopeRecord; rules: Rules; length?: HoldLength }>;

/** With `hold=auto`, learns from a use, and chooses how long a hold lasts from then on. */
export function observe(record: ScopeRecord, rules: Rules, use: Omit<Use, "held">): Observed {
  const { auto } = rules;
  if (!auto) return { record: changeLearned(record, forgetIdle), rules };
  const terms = { relaunchCost: auto.relaunchCost, cap: longestHold(rules) };
  const before = record.learned ?? nothingLearned;
  const known = learnFromUse(before, { ...use, held: isHeld(record) }, terms);
  const length = decideHoldLength(known, auto.relaunchCost, terms);
  const own = { ...rules, hold: length.length };
  if (known === before || !known.idle) return { record, rules: own, length };
  const learned = { ...known, idle: { ...known.idle, length: length.length } };
  return { record: { ...record, learned }, rules: own, length };
}

/** How long a hold of this scope would last after a launch now; undefined without `hold=auto`. */
export const learnedLength = (
  { learned = nothingLearned }: ScopeRecord,
  rules: Rules,
): HoldLength | undefined =>
  rules.auto && decideHoldLength(learned, rules.auto.relaunchCost, { cap: longestHold(rules) });

/** A scope whose hold ended otherwise than by its time: what comes next says nothing of the work. */
export const unwatched = (record: ScopeRecord, now: Date): ScopeRecord =>
  changeLearned(record, (learned) => stopWatching(learned, now, isHeld(record)));

const isHeld = ({ hold }: ScopeRecord): boolean => hold?.state === "held";

const changeLearned = (record: ScopeRecord, change: (learned: Learned) => Learned): ScopeRecord =>
  record.learned?.idle ? { ...record, learned: change(record.learned) } : record;
