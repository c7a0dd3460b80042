import { describe, expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { noPauses } from "../../lambda/core/pauses.ts";
import {
  awaitedSince,
  driftedNodes,
  holdable,
  nextDriftEnd,
  nodesWithJobs,
  planNodes,
  type ScopeView,
} from "../../lambda/core/plan-nodes.ts";
import type { SeenNode } from "../../lambda/core/ports.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aClaim, aHeldRecord, aHold, aNode, aRecord, markOf, someRules } from "../support/builders.ts";
import { at } from "./plans.ts";
import { aBound } from "./rooms.ts";

const [older, own, younger] = [holdId(1), holdId(2), holdId(3)];
const { annotation } = Karpenter.v1;

type Facts = Readonly<{
  isHeld?: boolean;
  isRequested?: boolean;
  rules?: Partial<Rules>;
  view?: Partial<ScopeView>;
  record?: ReturnType<typeof aRecord>;
}>;

/** What the hold `own` changes of these nodes at noon, as "mark a" or "release b 1". */
function changesOf(nodes: readonly SeenNode[], facts: Facts = {}): readonly string[] {
  const { isHeld = true, isRequested = false, rules = {}, view = {} } = facts;
  const { record = aHeldRecord({ hold: aHold({ id: own }) }) } = facts;
  return planNodes({
    record,
    until: isHeld ? at(20) : undefined,
    isRequested,
    view: { at: at(0), nodes, claims: [], ...view },
    rules: someRules(rules),
    now: at(0),
  }).map(({ do: what, node, holdId: id }) => `${what} ${node.name} ${[older, own, younger].indexOf(id) + 1}`);
}

const bare = aNode("bare");
const marked = aNode("marked", markOf(own));
const ofOlder = aNode("of-older", markOf(older));
const ofYounger = aNode("of-younger", markOf(younger));
const usersAnnotation = aNode("annotated", { annotations: { [annotation]: "true" } });
const excluded = aNode("excluded", { labels: { [holdLabel]: "never" } });
const all = [bare, marked, ofOlder, ofYounger, usersAnnotation, excluded];

it("a new node with the name of one that was let go is marked, before the pods are read again", () => {
  const account = { at: at(-1), nodes: 1, pauses: noPauses, wasted: {}, leftAlone: {} };
  const record = aHeldRecord({
    hold: aHold({ id: own }),
    account: { ...account, letGo: { bare: at(-5), anew: at(-5) } },
  });
  const rules = { auto: true };
  expect(changesOf([bare, aNode("anew", { createdAt: at(-1) })], { record, rules })).toEqual(["mark anew 2"]);
});

describe("while a scope is held", () => {
  it("bare nodes are marked and older marks adopted; the user's nodes, excluded ones and younger marks are left alone", () => {
    expect(changesOf(all)).toEqual(["mark bare 2", "mark of-older 2"]);
  });

  it("an older hold's label is removed where the user has changed its annotation", () => {
    const changed = aNode("changed", { ...markOf(older), annotations: { [annotation]: "false" } });
    expect(changesOf([changed])).toEqual(["release changed 1"]);
  });

  it("a mark of another hold annotation counts as none", () => {
    expect(changesOf([usersAnnotation], { rules: { holdAnnotation: "example.com/keep" } })).toEqual([
      "mark annotated 2",
    ]);
  });

  it("a node that was let go is marked again where its pods could not be read for 15 minutes", () => {
    const marksOf = (minute: number) => {
      const account = { at: at(minute), nodes: 3, pauses: noPauses, wasted: {}, leftAlone: {} };
      const record = aHeldRecord({
        hold: aHold({ id: own }),
        account: { ...account, letGo: { bare: at(minute), marked: at(minute) } },
      });
      return changesOf([bare, marked, aNode("constructor")], { record });
    };
    expect(marksOf(-14.9)).toEqual(["release marked 2", "mark constructor 2"]);
    expect(marksOf(-15)).toEqual(["mark bare 2", "mark constructor 2"]);
  });

  it("drifted nodes are not marked, and those that were are released", () => {
    const claims = [aClaim("bare", { driftedAt: at(0) }), aClaim("marked", { driftedAt: at(-5) })];
    expect(changesOf([bare, marked, aNode("other")], { view: { claims } })).toEqual([
      "release marked 2",
      "mark other 2",
    ]);
  });

  it("drifted nodes are held where somebody asked for the hold", () => {
    const claims = [aClaim("bare", { driftedAt: at(-5) })];
    expect(changesOf([bare], { view: { claims }, isRequested: true })).toEqual(["mark bare 2"]);
  });

  it("with mode=observe no node is marked, and marks from before are released", () => {
    expect(changesOf(all, { rules: { mode: "observe" } })).toEqual([
      "release marked 2",
      "release of-older 1",
    ]);
  });
});

describe("while a hold with hold=auto ends", () => {
  const launchHold = { startedAt: at(-180), lastLaunchAt: at(-130), isEnding: true } as const;
  const record = aHeldRecord({ hold: aHold({ id: own }), launchHold });
  const pods = [...["marked", "bare"].map((node) => aBound(node, { runsOnce: true })), aBound("other")];
  const other = aNode("other", markOf(own));

  it("marked nodes with Jobs stay marked, the others are released, and none is marked", () => {
    expect(changesOf([...all, other], { record, view: { pods } })).toEqual([
      "release of-older 1",
      "release other 2",
    ]);
  });

  it("nothing changes until the pods are read", () => {
    expect(changesOf([...all, other], { record, view: { pods: "not read" } })).toEqual([]);
  });

  it("but drifted nodes are released meanwhile, and all where nothing is to be marked", () => {
    const claims = [aClaim("marked", { driftedAt: at(-5) })];
    const view = { pods: "not read", claims } as const;
    expect(changesOf([marked, other], { record, view })).toEqual(["release marked 2"]);
    const rules = { mode: "observe" } as const;
    expect(changesOf([marked, other], { record, view, rules })).toEqual([
      "release marked 2",
      "release other 2",
    ]);
  });

  it("a request holds all nodes", () => {
    expect(changesOf([bare, other], { record, view: { pods }, isRequested: true })).toEqual(["mark bare 2"]);
  });

  it("with mode=observe the Jobs of all nodes count", () => {
    const view = { at: at(0), nodes: [bare, marked, other], claims: [], pods };
    const names = (rules: Partial<Rules>) => nodesWithJobs(view, record.hold, someRules(rules), at(0));
    expect(names({})).toEqual(new Set(["marked"]));
    expect(names({ mode: "observe" })).toEqual(new Set(["bare", "marked"]));
  });

  it("a drifted node's Job is waited for no longer", () => {
    const claims = [aClaim("marked", { driftedAt: at(-5) })];
    const view = { at: at(0), nodes: [marked], claims, pods };
    const namesWith = (driftWait: number) =>
      nodesWithJobs(view, record.hold, someRules({ driftWait: minutes(driftWait) }), at(0));
    expect(namesWith(0)).toEqual(new Set());
    expect(namesWith(6)).toEqual(new Set(["marked"]));
  });
});

describe("once a scope is not held any more", () => {
  it("its marks and older ones are released, each as the hold's that it is; younger ones and the user's stay", () => {
    expect(changesOf(all, { isHeld: false })).toEqual(["release marked 2", "release of-older 1"]);
  });

  it("a scope that the settings keep no more releases its own hold's marks alone: others are another scope's", () => {
    expect(changesOf(all, { isHeld: false, rules: { scope: "nodepool" } })).toEqual(["release marked 2"]);
  });

  it("half a mark is released, too", () => {
    expect(changesOf([aNode("half", { labels: { [holdLabel]: own } })], { isHeld: false })).toEqual([
      "release half 2",
    ]);
  });

  it("nothing is changed where the record names no hold: marks are orphaned then", () => {
    expect(changesOf(all, { isHeld: false, record: aRecord() })).toEqual([]);
  });
});

describe("a drifted node", () => {
  const view = (wait: readonly (number | undefined)[]): ScopeView => ({
    at: at(0),
    nodes: [],
    claims: wait.map((minute, n) => aClaim(`${n}`, minute === undefined ? {} : { driftedAt: at(minute) })),
  });

  it.each([
    [3, ["0", "1"], undefined],
    [10, ["0"], at(7)],
    [20, [], at(3)],
  ])("is held for driftWait: %s minutes", (wait, drifted, next) => {
    const rules = someRules({ driftWait: minutes(wait) });
    const seen = view([-17, -3, undefined]);
    expect([...driftedNodes(seen, rules, at(0))]).toEqual(drifted);
    expect(nextDriftEnd(seen, rules, at(0))).toEqual(next);
  });

  it("is not known where NodeClaims cannot be read, so all are held", () => {
    const claims = { unavailable: "no right" };
    expect([...driftedNodes({ at: at(0), nodes: [], claims }, someRules(), at(0))]).toEqual([]);
    expect(changesOf([bare], { view: { claims } })).toEqual(["mark bare 2"]);
  });

  it("without a node has nothing to hold", () => {
    const { node: _, ...claim } = aClaim("a", { driftedAt: at(0) });
    expect([...driftedNodes({ at: at(0), nodes: [], claims: [claim] }, someRules(), at(0))]).toEqual([]);
  });
});

describe("the youngest launch whose node has not joined", () => {
  const { node: _, ...unjoined } = aClaim("x", { createdAt: at(-3) });
  const since = (claims: ScopeView["claims"], launches: readonly number[] = []) =>
    awaitedSince({ at: at(0), nodes: [aNode("a")], claims }, namedBy("i", launches), at(0));
  const namedBy = (name: string, launches: readonly number[]) =>
    Object.fromEntries(launches.map((minute) => [`${name}${minute}`, at(minute)]));

  it("is that of a NodeClaim without a node, or whose node is not listed yet", () => {
    expect(since([aClaim("a", { createdAt: at(-1) }), unjoined])).toEqual(at(-3));
    expect(since([aClaim("b", { createdAt: at(-2) }), unjoined])).toEqual(at(-2));
  });

  it.each([
    ["is joined", aClaim("a", { createdAt: at(-1) })],
    ["is being removed", { ...unjoined, isDeleted: true as const }],
    ["boots for ten minutes", { ...unjoined, createdAt: at(-10) }],
  ])("is none where it %s", (_, claim) => {
    expect(since([claim])).toBeUndefined();
  });

  it("may be any of the last ten minutes where NodeClaims cannot be read", () => {
    expect(since({ unavailable: "no right" }, [-11, -4, -6])).toEqual(at(-4));
    expect(since([], [-4])).toBeUndefined();
    const view = { at: at(0), nodes: [aNode("a-4")], claims: { unavailable: "no right" } };
    expect(awaitedSince(view, namedBy("a", [-4, -6]), at(0))).toEqual(at(-6));
  });
});

it("the nodes that a hold protects are those that are marked or can be: not the user's, excluded or drifted ones", () => {
  const claims = [aClaim("of-older", { driftedAt: at(-1) })];
  expect(holdable({ at: at(0), nodes: all, claims }, someRules(), at(0))).toEqual([
    "bare",
    "marked",
    "of-younger",
  ]);
});
