import { describe, expect, it } from "vitest";
import { hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { noPauses } from "../../lambda/core/pauses.ts";
import type { Account } from "../../lambda/core/pays.ts";
import { withoutHold } from "../../lambda/core/record.ts";
import { untilOf } from "../../lambda/core/requests.ts";
import { accountOf } from "../../lambda/core/view.ts";
import { aClaim, aHeldRecord, aRecord, aRequest, someRules } from "../support/builders.ts";
import { at, launchAt, nodesNamed, Passes, planAt } from "./plans.ts";

const rules = someRules({ auto: true });
const learned = [minutes(12), -minutes(3)];
const account: Account = {
  at: at(9),
  nodes: 2,
  pauses: { open: [{ since: at(4), level: 0 }], gone: 1, learned },
  wasted: { a: seconds(30) },
  letGo: { b: at(8) },
  leftAlone: { c: at(60) },
};
const learnedAlone: Account = {
  ...{ at: at(9), nodes: 0, wasted: {}, letGo: {}, leftAlone: {} },
  pauses: { ...noPauses, learned },
};
const launchHold = { startedAt: at(0), lastLaunchAt: at(0) };
const record = aHeldRecord({ launchHold, account });

describe("what was learned of pauses", () => {
  it("stays when the hold ends, and nothing else of the account does", () => {
    const ended = planAt(121, { record, rules }).record;
    expect(ended).toMatchObject({ hold: { ended: { at: at(121) } }, account: learnedAlone });
    expect(withoutHold(record).account).toEqual(learnedAlone);
    expect(withoutHold(ended).account).toEqual(learnedAlone);
  });

  it("is there for the next hold, and changes nothing of a record without one", () => {
    const passes = new Passes({ auto: true }, aRecord({ account: learnedAlone }));
    expect(passes.at(200)).toMatchObject({ isChanged: false, record: { account: learnedAlone } });
    expect(passes.at(300, [launchAt(300)]).record).toMatchObject({ hold: {}, account: learnedAlone });
  });

  it("stays where pods cannot be read for a while", () => {
    expect(planAt(10, { record, rules: someRules() }).record.account).toEqual(learnedAlone);
  });
});

describe("a hold without the rights of hold=auto", () => {
  const limited = { rules: someRules(), nodes: nodesNamed(["a"]), isLimited: true };
  const ofLaunch = planAt(0, { ...limited, launches: [launchAt(0)] }).record;

  it("ends like a constant hold for all who read its record", () => {
    expect(untilOf(ofLaunch, rules)).toEqual(at(20));
    expect(planAt(10, { ...limited, record: ofLaunch }).record.launchHold).toEqual(ofLaunch.launchHold);
    expect(planAt(20, { ...limited, record: ofLaunch }).record.hold?.ended).toBeDefined();
  });

  it("stays so where the cluster cannot be read, and until the rights are there", () => {
    expect(planAt(19, { rules, record: ofLaunch }).until).toEqual(at(20));
    const granted = planAt(10, { rules, nodes: nodesNamed(["a"]), isLimited: false, record: ofLaunch });
    expect(granted.until).toEqual(at(120));
    expect(untilOf(granted.record, rules)).toEqual(at(120));
  });
});

describe("with hold=auto, pods are read", () => {
  const view = { nodes: [], claims: [aClaim("a")], pods: [] };
  const nodes = nodesNamed(["a"], { nextReadAt: at(11) });

  it("once a minute while launches hold, also where no node is superfluous", () => {
    expect(accountOf(view, record, rules, at(10)).nextReadAt).toEqual(at(11));
    expect(planAt(10, { record, rules, nodes }).oneShot).toEqual(at(11));
  });

  it("less often where there are tens of thousands", () => {
    const needs = { labels: {}, tolerations: [] };
    const pods = Array.from({ length: 25_000 }, () => ({
      node: "a",
      requests: {},
      needsNoPlace: false,
      needs,
    }));
    expect(accountOf({ ...view, pods }, record, rules, at(10)).nextReadAt).toEqual(at(13));
  });

  it("and nothing counts as spared while it observes", () => {
    expect(accountOf(view, record, rules, at(10)).since).toBeDefined();
    expect(accountOf(view, record, { ...rules, mode: "observe" }, at(10)).since).toBeUndefined();
  });

  it("not before the end of a request, since it lets no node go", () => {
    const requests = [aRequest({ until: at(40) })];
    expect(planAt(10, { record: { ...record, requests }, rules, nodes }).oneShot).toEqual(at(40));
  });

  it("never where nothing is held", () => {
    expect(planAt(10, { record: aRecord(), rules, nodes }).oneShot).toBeUndefined();
    expect(planAt(hours(3) / minutes(1), { record, rules, nodes }).oneShot).toBeUndefined();
  });
});
