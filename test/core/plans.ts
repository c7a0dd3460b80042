import { after, minutes } from "../../lambda/core/duration.ts";
import type { NodeFacts } from "../../lambda/core/figures.ts";
import { type Plan, type PlanFacts, planScope } from "../../lambda/core/plan.ts";
import type { Launch } from "../../lambda/core/ports.ts";
import type { ScopeRecord } from "../../lambda/core/record.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aLaunch, aRecord, someRules } from "../support/builders.ts";

/** A time so many minutes after noon. */
export const at = (minute: number): Date => after(noon, minutes(minute));

/** Another launch for each minute, named after it. */
export const launchAt = (minute: number, about: Partial<Launch> = {}): Launch =>
  aLaunch({ instance: `i-${minute}`, launchedAt: at(minute), ...about });

/** The plan at a minute, from an empty record unless another is given. */
export const planAt = (minute: number, facts: Partial<PlanFacts> = {}): Plan =>
  planScope({
    record: aRecord(),
    launches: [],
    rules: someRules(),
    now: at(minute),
    newId: holdId(Math.max(1, Math.round(minute * 60))),
    ...facts,
  });

/** What the cluster shows of nodes that a hold protects. */
export const nodesNamed = (names: readonly string[], about: Partial<NodeFacts> = {}): NodeFacts => ({
  holdable: names,
  present: new Set(names),
  ...about,
});

/** Plans one pass after the other, as if each record was written. */
export class Passes {
  record: ScopeRecord;
  readonly #rules: Rules;

  constructor(rules: Partial<Rules> = {}, record = aRecord()) {
    this.#rules = someRules(rules);
    this.record = record;
  }

  at(minute: number, launches: readonly Launch[] = [], facts: Partial<PlanFacts> = {}): Plan {
    const plan = planAt(minute, { record: this.record, launches, rules: this.#rules, ...facts });
    this.record = plan.record;
    return plan;
  }
}
