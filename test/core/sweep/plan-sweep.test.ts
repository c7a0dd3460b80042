import { expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import type { ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import { planSweep, type SweepPlan } from "../../../lambda/core/sweep/plan-sweep.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, someRules } from "../../support/builders.ts";

const at = (minute: number) => after(noon, minutes(minute));
const pool = (name: string, about: Parameters<typeof aHold>[0] = {}): ScopeRecord =>
  aRecord({ scope: `nodepool/${name}`, hold: aHold(about) });
const plan = (records: readonly ScopeRecord[], next?: Scope) => {
  const planned: SweepPlan = planSweep(records, { rules: someRules(), now: at(10), next });
  const names = (those: readonly ScopeRecord[]) => those.map(({ scope }) => scope.replace("nodepool/", ""));
  return { due: names(planned.due), releasing: names(planned.releasing), running: names(planned.running) };
};

it("separates holds that are due, being released, and running; what holds nothing is no part of it", () => {
  const records = [
    pool("running"),
    pool("due", { expiresAt: at(10) }),
    pool("releasing", { state: "releasing", expiresAt: at(5) }),
    aRecord({ scope: "nodepool/none" }),
  ];
  expect(plan(records)).toEqual({ due: ["due"], releasing: ["releasing"], running: ["running"] });
});

it("ends the longest overdue first", () => {
  const records = [
    pool("b", { expiresAt: at(9) }),
    pool("a", { expiresAt: at(10) }),
    pool("c", { expiresAt: at(8) }),
  ];
  expect(plan(records).due).toEqual(["c", "b", "a"]);
});

it("ends holds whose launches a pause of the whole cluster made void", () => {
  const whole = aRecord({ launchesCountFrom: at(1) });
  expect(plan([pool("before"), whole, pool("after", { causedAt: at(1) })])).toMatchObject({
    due: ["before"],
    running: ["after"],
  });
});

it.each<[string, Scope | undefined, string[]]>([
  ["by name", undefined, ["a", "b", "c"]],
  ["where the last sweep stopped", "nodepool/b", ["b", "c", "a"]],
  ["behind it, where that one holds nothing any more", "nodepool/aa", ["b", "c", "a"]],
  ["at the first", "nodepool/a", ["a", "b", "c"]],
  ["at the first, where all were before it", "nodepool/d", ["a", "b", "c"]],
])("goes through running holds from %s on", (_, next, order) => {
  expect(plan([pool("c"), pool("a"), pool("b")], next).running).toEqual(order);
});
