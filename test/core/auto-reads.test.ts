import { describe, expect, it } from "vitest";
import { after, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import { noPauses } from "../../lambda/core/pauses.ts";
import type { Account } from "../../lambda/core/pays.ts";
import type { ScopeRecord } from "../../lambda/core/record.ts";
import { accountOf } from "../../lambda/core/view.ts";
import { aClaim, aHeldRecord, aNode, aRecord, aRequest, markOf, someRules } from "../support/builders.ts";
import { at, nodesNamed, planAt } from "./plans.ts";
import { aBound, waiting } from "./rooms.ts";

const rules = someRules({ auto: true });
const learnedAlone: Account = {
  ...{ at: at(9), nodes: 0, wasted: {}, letGo: {}, leftAlone: {} },
  pauses: { ...noPauses, learned: [minutes(12), -minutes(3)] },
};
const room = { allocatable: {}, labels: {}, taints: [], isOpen: true };
const record = aHeldRecord({
  launchHold: { startedAt: at(0), lastLaunchAt: at(0) },
  account: { ...learnedAlone, nodes: 2 },
});

describe("with hold=auto, pods are read", () => {
  const view = { at: at(10), nodes: [], claims: [aClaim("a")], pods: [] };
  const nodes = nodesNamed(["a"], { nextReadAt: at(11) });

  it("once a minute while launches hold, also where no node is superfluous", () => {
    expect(accountOf(view, record, rules, at(10)).nextReadAt).toEqual(at(11));
    expect(planAt(10, { record, rules, nodes }).oneShot).toEqual(at(11));
  });

  it("when a node is due, but not before half a minute is over", () => {
    const claim = (name: string, cpu: number) =>
      aClaim(name, { room: { ...room, allocatable: { cpu, pods: 9 } } });
    const two = { ...view, at: at(10), claims: [claim("a", 8), claim("b", 8)] };
    const nextAt = (since: Date) => {
      const pauses = { ...waiting.pauses, open: [{ since, level: 0 }] };
      const account = { ...learnedAlone, nodes: 2, pauses };
      return accountOf(two, { ...record, account }, rules, at(10)).nextReadAt;
    };
    // An empty node is due after the five minutes of a relaunch.
    expect(nextAt(after(at(5), seconds(45)))).toEqual(after(at(10), seconds(45)));
    expect(nextAt(after(at(5), seconds(10)))).toEqual(after(at(10), seconds(30)));
    expect(nextAt(at(8))).toEqual(at(11));
  });

  it("less often where there are tens of thousands", () => {
    const pods = Array(25_000).fill(aBound("a"));
    const { nextReadAt, account } = accountOf({ ...view, pods }, record, rules, at(10));
    expect([nextReadAt, account?.pods]).toEqual([at(13), 25_000]);
  });

  it("and decide by what was there when they were read, also where the pass goes on much later", () => {
    const open = {
      ...learnedAlone,
      ...{ at: at(7), nodes: 1 },
      pauses: { ...waiting.pauses, open: [{ since: at(4), level: 0 }] },
    };
    const before = { ...record, account: open };
    const claims = [aClaim("a", { room })];
    const letGoBy = (minute: number) =>
      accountOf({ ...view, claims, at: at(minute) }, before, rules, at(10)).account?.letGo;
    expect(letGoBy(8)).toEqual({});
    expect(letGoBy(9)).toEqual({ a: at(9) });
  });

  it("and decide nothing where another pass has read them later", () => {
    const open = { ...waiting.pauses, open: [{ since: at(0), level: 0 }] };
    const looked = (minute: number) => ({ ...learnedAlone, at: at(minute), nodes: 1, pauses: open });
    const decidedAfter = (minute: number) =>
      accountOf({ ...view, at: at(8) }, { ...record, account: looked(minute) }, rules, at(10));
    expect(decidedAfter(8).account?.at).toEqual(at(8));
    expect(decidedAfter(9)).toEqual({ nextReadAt: at(11) });
  });

  it("and no node is let go that its user holds or excludes", () => {
    const open = [0, 1, 2, 3].map((level) => ({ since: at(4), level }));
    const before = { ...record, account: { ...learnedAlone, nodes: 4, pauses: { ...noPauses, open } } };
    const nodes = [
      aNode("held", { annotations: { [rules.holdAnnotation]: "true" } }),
      aNode("excluded", { labels: { [holdLabel]: "never" } }),
      aNode("both", {
        ...markOf(),
        writers: [{ manager: "argo", annotations: [rules.holdAnnotation] }],
      }),
      aNode("ours"),
    ];
    const seen = { at: at(10), nodes, claims: nodes.map(({ name }) => aClaim(name, { room })), pods: [] };
    expect(accountOf(seen, before, rules, at(10)).account?.letGo).toEqual({ ours: at(10) });
  });

  it("and nothing counts as spared while it observes", () => {
    expect(accountOf(view, record, rules, at(10)).since).toBeDefined();
    expect(accountOf(view, record, { ...rules, mode: "observe" }, at(10)).since).toBeUndefined();
  });

  it("not before the end of a request, since it lets no node go", () => {
    const requests = [aRequest({ until: at(40) })];
    expect(planAt(10, { record: { ...record, requests }, rules, nodes }).oneShot).toEqual(at(40));
  });

  it("and a node counts as let go where launches hold alone", () => {
    const since = { superfluous: minutes(1), letGo: 2, spared: 0, evictionsSpared: 0 };
    const letGo = (requests: ScopeRecord["requests"]) => {
      const plan = planAt(10, { record: { ...record, requests }, rules, nodes: { ...nodes, since } });
      return [plan.since?.letGo, plan.record.figures.letGo];
    };
    expect(letGo([])).toEqual([2, 2]);
    expect(letGo([aRequest({ until: at(40) })])).toEqual([0, 0]);
  });

  it("never where nothing is held", () => {
    expect(planAt(10, { record: aRecord(), rules, nodes }).oneShot).toBeUndefined();
    expect(
      planAt(hours(3) / minutes(1), { record, rules, nodes: { ...nodes, withJobs: new Set() } }).oneShot,
    ).toBeUndefined();
  });
});
