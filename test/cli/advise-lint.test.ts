import * as v from "valibot";
import { expect, it } from "vitest";
import { activeMinutes } from "../../cli/advise/allowed.ts";
import { complement, lint } from "../../cli/advise/lint.ts";
import type { Finding } from "../../cli/advise/lint-nodes.ts";
import * as objects from "../../cli/advise/objects.ts";
import type { ClusterFacts } from "../../cli/advise/read.ts";
import { hours } from "../../lambda/core/duration.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import { aClaim, aNode, aNodePool, aPod, type NodePoolGiven } from "./advise-cluster.ts";

const key = "karpenter.sh/do-not-disrupt";
const missing = { missing: "no right" };
const list = <T>(schema: v.GenericSchema<unknown, T>, items: readonly unknown[]): readonly T[] =>
  items.map((item) => v.parse(schema, item));

type Given = Readonly<{
  pools?: readonly NodePoolGiven[];
  claims?: readonly unknown[];
  nodes?: readonly unknown[];
  pods?: readonly unknown[];
  pdbs?: readonly unknown[];
  karpenter?: number;
  timeZone?: string;
}>;

function find({ pools = [], claims = [], nodes = [], pods, pdbs = [], karpenter, timeZone = "UTC" }: Given) {
  const facts: ClusterFacts = {
    readAt: new Date(),
    nodePools: list(objects.nodePoolSchema, pools.map(aNodePool)),
    nodeClaims: list(objects.nodeClaimSchema, claims),
    nodes: list(objects.nodeSchema, nodes),
    pods: pods ? list(objects.podWithNameSchema, pods) : missing,
    pdbs: list(objects.pdbSchema, pdbs),
    ...{ jobs: missing, events: missing, log: missing, metrics: missing },
    karpenter: karpenter ?? missing,
  };
  return lint(facts, { week: new Date("2026-11-23T00:00:00Z"), timeZone });
}
const rules = (given: Given) => find(given).map(({ rule }) => rule);
const only = (given: Given): Finding => {
  const found = find(given);
  expect(found).toHaveLength(1);
  return found[0] ?? { rule: "annotation-value", object: "", problem: "", change: "" };
};
const expectNothing = (...all: readonly Given[]) => {
  for (const given of all) expect(find(given)).toEqual([]);
};
const withBudgets = (...budgets: readonly Readonly<Record<string, unknown>>[]): Given => ({
  pools: [{ name: "default", disruption: { budgets } }],
});

it("finds nothing in Karpenter's defaults, nor in nodes under a hold", () => {
  const held = aNode({
    name: "a",
    labels: { [holdLabel]: "20261121t120000-000001" },
    annotations: { [key]: "true" },
  });
  expectNothing({ pools: [{ name: "default" }], nodes: [held], pods: [aPod({ name: "p", node: "a" })] });
});

it("finds Karpenter's annotation on the NodePool itself, and values that protect nothing in its template", () => {
  expect(only({ pools: [{ name: "a", annotations: { [key]: "true" } }] })).toMatchObject({
    rule: "annotation-on-nodepool",
    object: "NodePool a",
    change: `kubectl annotate nodepool a ${key}-`,
  });
  expect(only({ pools: [{ name: "a", template: { [key]: "4h" } }] })).toMatchObject({
    rule: "annotation-value",
    change: `spec.template.metadata.annotations: { ${key}: "true" }`,
  });
  expectNothing(
    ...["true", "false"].map((value) => ({ pools: [{ name: "a", template: { [key]: value } }] })),
  );
});

it("finds values on nodes that protect nothing, one finding for each value", () => {
  const nodes = ["30m", "True", "True", "false"].map((value, n) =>
    aNode({ name: `n${n}`, annotations: { [key]: value } }),
  );
  expect(find({ nodes }).map(({ object, change }) => [object, change])).toEqual([
    ["node n0", `kubectl annotate node n0 ${key}=true --overwrite`],
    ["nodes n1, n2", `kubectl annotate node n1 n2 ${key}=true --overwrite`],
  ]);
  const others = aNode({ name: "x", annotations: { [key]: "1h" } });
  expectNothing({ nodes: [{ ...others, metadata: { ...others.metadata, labels: {} } }] });
});

const night = { nodes: "10%", schedule: "0 22 * * *", duration: "6h" };
const day = { nodes: "0", schedule: "0 4 * * *", duration: "18h" };
const ofDrift = { reasons: ["Drifted"] };

it("finds a budget that opens a window without a base, and gives the base", () => {
  expect(only(withBudgets(night))).toMatchObject({
    rule: "window-without-base",
    change:
      'Add a budget of "0" for the time outside:\n- { nodes: "0", schedule: "0 4 * * *", duration: 18h }',
  });
  // Outside of it another budget limits: that is a smaller number at night.
  expectNothing(withBudgets(night, day), withBudgets(night, { nodes: "50%" }));
  // The base must be for its reasons.
  expect(rules(withBudgets(night, { ...day, ...ofDrift }))).toEqual(["window-without-base"]);
  expectNothing(withBudgets({ ...night, ...ofDrift }, { ...day, ...ofDrift }));
});

it("finds a window that never opens, because the base of 0 is always active", () => {
  expect(only(withBudgets({ nodes: "0" }, night))).toMatchObject({
    rule: "window-never-opens",
    change: expect.stringContaining('- { nodes: "0", schedule: "0 4 * * *", duration: 18h }'),
  });
  const changeFor = (change: object) => only(withBudgets({ nodes: "0" }, { ...night, ...change })).change;
  const monthly = 'outside of the window:\n- nodes: "0"   # with a schedule and duration for that time';
  expect(changeFor({ schedule: "0 2 1 * *" })).toContain(monthly);
  expect(changeFor({ duration: "24h" })).toBe('Remove the budget of "0"');
  const ofEmpty = { ...night, reasons: ["Empty"] };
  expect(rules(withBudgets({ nodes: "0", ...ofDrift }, ofEmpty))).toEqual(["window-without-base"]);
  // Closed for one reason alone, it has no base for the others.
  expect(only(withBudgets({ nodes: "0", ...ofDrift }, night))).toMatchObject({
    rule: "window-without-base",
    change: expect.stringContaining("reasons: [Empty, Underutilized]"),
  });
  const each = ["Empty", "Underutilized", "Drifted"].map((one) => ({ nodes: "0", reasons: [one] }));
  expect(rules(withBudgets(...each, night))).toEqual(["window-never-opens"]);
});

it.each(["0 22 * * *", "30 22 * * mon-fri", "0 8 * * 0,6", "@daily"])(
  "closes exactly the time outside of the window %s",
  (schedule) => {
    const week = new Date("2026-11-23T00:00:00Z");
    const lines = complement({ nodes: "5", schedule, duration: "6h", reasons: null })?.split("\n") ?? [];
    const bases = lines.map((line) => {
      const [, at = "", lasts = ""] = /schedule: "(.*)", duration: (\w+)/.exec(line) ?? [];
      return activeMinutes({ nodes: "0", schedule: at, duration: lasts, reasons: null }, week);
    });
    const open = activeMinutes({ nodes: "5", schedule, duration: "6h", reasons: null }, week);
    expect(open.map((_, minute) => bases.some((base) => base[minute]))).toEqual(open.map((is) => !is));
  },
);

const office = { nodes: "0", schedule: "0 9 * * mon-fri", duration: "8h" };

it("finds office hours that are so in UTC alone", () => {
  const given = withBudgets({ nodes: "10%" }, office);
  expect(only({ ...given, timeZone: "Asia/Tokyo" }).problem).toContain(
    "in Asia/Tokyo it begins at 18:00. If 09:00 there was meant, it is wrong by 9h",
  );
  expectNothing(given);
  // The evening opens what office hours close.
  const evening = { nodes: "10%", schedule: "0 18 * * *", duration: "14h" };
  const base = { nodes: "0", schedule: "0 8 * * *", duration: "10h" };
  const found = rules({ ...withBudgets(evening, base), timeZone: "Asia/Kolkata" });
  expect(found).toEqual(["window-in-utc", "window-in-utc"]);
});

it("finds nodes that expire in a protected window", () => {
  const age = Date.now() - new Date("2026-11-24T12:00:00Z").getTime() + hours(48);
  const pools = (expireAfter: string) => [
    { name: "default", expireAfter, disruption: { budgets: [office, { nodes: "10%" }] } },
  ];
  const claims = [aClaim({ name: "soon", age }), aClaim({ name: "elsewhere", pool: "other", age })];
  const { rule, problem } = only({ pools: pools("48h"), claims });
  expect([rule, problem]).toEqual([
    "expires-in-window",
    expect.stringMatching(
      /ends 1 of its nodes inside .* in the next seven days, first soon at 2026-11-24 12:00 UTC/,
    ),
  ]);
  // A NodeClaim keeps what its NodePool had at its launch.
  const own = (expireAfter: string) => [aClaim({ name: "own", age, expireAfter })];
  expect(only({ pools: pools("Never"), claims: own("48h") }).rule).toBe("expires-in-window");
  expectNothing({ pools: pools("48h"), claims: own("Never") });
  expectNothing(...["Never", "56h"].map((expireAfter) => ({ pools: pools(expireAfter), claims })));
});

it("finds without any node that each node expires in a protected window, where that is as long as a node lives", () => {
  const pools = (expireAfter: string, schedule = office.schedule) => ({
    pools: [{ name: "a", expireAfter, disruption: { budgets: [{ ...office, schedule }, { nodes: "10%" }] } }],
  });
  for (const expireAfter of ["1h", "8h"])
    expect(only(pools(expireAfter))).toMatchObject({
      rule: "expires-in-window",
      problem: expect.stringMatching(
        /each one that is there at its begin reaches expireAfter: \dh inside of it/,
      ),
      change: "spec.template.spec.expireAfter: Never",
    });
  // Also where the present nodes keep an older value; a longer life may end outside.
  expect(
    rules({ ...pools("8h"), claims: [aClaim({ name: "n", pool: "a", expireAfter: "Never" })] }),
  ).toHaveLength(1);
  expectNothing(...["8h1m", "720h", "Never"].map((expireAfter) => pools(expireAfter)));
  expect(rules(pools("8h", "0 25 * * *"))).toEqual(["schedule-unreadable"]);
});

it("finds a long consolidateAfter from 1.14 on, and asks where the version is unknown", () => {
  const pools = [{ name: "default", disruption: { consolidateAfter: "10m" } }];
  expect(only({ pools, karpenter: 14 }).problem).toMatch(/^From 1.14 on/);
  expect(only({ pools }).problem).toMatch(/^If this is Karpenter 1.14 or later/);
  const short = [{ name: "a", disruption: { consolidateAfter: "5m" } }];
  expectNothing({ pools, karpenter: 13 }, { pools: short, karpenter: 15 });
});

it("finds nodes that nobody can disrupt: a user's annotation, pods that asked for it long ago, budgets that never allow an eviction", () => {
  const node = aNode({ name: "n" });
  expect(only({ nodes: [aNode({ name: "n", annotations: { [key]: "true" } })] })).toMatchObject({
    rule: "nobody-can-disrupt",
    change: `kubectl annotate node n ${key}-`,
  });
  const handedOver = aNode({ name: "n", annotations: { [key]: "true" }, labels: { [holdLabel]: "never" } });
  expect(rules({ nodes: [handedOver] })).toEqual(["nobody-can-disrupt"]);
  const pod = (value: string, age: number) =>
    aPod({ name: "p", node: "n", age, annotations: { [key]: value } });
  const free = `kubectl annotate pod -n default p ${key}-`;
  const long = pod("true", hours(25));
  expect(only({ nodes: [node], pods: [long] }).change).toBe(free);
  expect(only({ nodes: [node], pods: [long, long] }).change).toBe(`${free}; ${free}`);
  expect(rules({ nodes: [node], pods: [pod("40h", hours(25))] })).toEqual(["nobody-can-disrupt"]);
  for (const fine of [pod("true", hours(23)), pod("20h", hours(25)), pod("false", hours(25))])
    expectNothing({ nodes: [node], pods: [fine] });

  const web = aPod({ name: "web", node: "n", labels: { app: "web" } });
  const pdb = (expectedPods: number, desiredHealthy: number, app = "web") => ({
    metadata: { name: "web", namespace: "default" },
    spec: { selector: { matchLabels: { app } } },
    status: { expectedPods, desiredHealthy },
  });
  expect(only({ nodes: [node], pods: [web], pdbs: [pdb(1, 1)] })).toMatchObject({
    object: "PodDisruptionBudget default/web",
    change: expect.stringContaining('"maxUnavailable":1'),
  });
  // It has no room for now, it is for other pods, or it has none.
  for (const fine of [pdb(2, 1), pdb(1, 1, "api"), pdb(0, 0)])
    expectNothing({ nodes: [node], pods: [web], pdbs: [fine] });
});

it("finds WhenEmpty on nodes that are mostly empty, where pods may be read", () => {
  const pools = [{ name: "default", disruption: { consolidationPolicy: "WhenEmpty" } }];
  const nodes = ["a", "b", "c"].map((name) => aNode({ name }));
  const pods = (cpu: string) =>
    nodes.map(({ metadata }) => aPod({ name: metadata.name, node: metadata.name, cpu }));
  expect(only({ pools, nodes, pods: pods("2") })).toMatchObject({
    rule: "when-empty-wastes",
    problem: expect.stringContaining("3 nodes of which pods request 25 %"),
  });
  expectNothing(
    { pools, nodes, pods: pods("5") },
    { pools, nodes: nodes.slice(1), pods: [] },
    { pools, nodes },
  );
});
