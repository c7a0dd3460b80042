import { describe, expect, it } from "vitest";
import { type ArmName, arms } from "../../lab/churn/arms.ts";
import { serviceObject } from "../../lab/churn/cluster-objects.ts";
import { comparison } from "../../lab/churn/comparison.ts";
import { figuresOf } from "../../lab/churn/figures.ts";
import { picturesOf } from "../../lab/churn/page.ts";
import type { ArmRecord } from "../../lab/churn/run-arm.ts";
import { totals } from "../../lab/churn/totals.ts";
import { smallCpu, type TraceName, traceOf, traces } from "../../lab/churn/traces.ts";
import { at, evicted, gone, joined } from "../report/events.ts";

const aRecord = (record: Partial<ArmRecord>): ArmRecord => ({
  trace: "dense",
  arm: "none",
  seed: 1,
  hold: 100_000,
  share: 1,
  from: at(0),
  to: at(600),
  unfinished: 0,
  events: [],
  waits: [],
  ...record,
});

const archived = (record: ArmRecord) => ({ record, machine: "", load: 0, karpenter: "" });

/** The cells of a table below its head. */
const cellsOf = (table = "") =>
  table
    .split("\n")
    .slice(2)
    .map((row) => row.split("|").slice(1, -1))
    .map((row) => row.map((cell) => cell.trim()));

describe("the churn lab counts", () => {
  it("the nodes that joined while the trace ran, not those of before", () => {
    const events = [joined("before", -60), joined("a", 0), joined("b", 30), gone("b", 50)];
    expect(figuresOf(aRecord({ events })).launched).toBe(2);
  });

  it("node-minutes from the beginning or a node's joining until it is gone or the trace ends", () => {
    const events = [joined("before", -60), gone("before", 60), joined("a", 300), joined("b", 540)];
    expect(figuresOf(aRecord({ events })).nodeMinutes).toBe(1 + 5 + 1);
  });

  it("evictions of services apart from those of jobs", () => {
    const events = [evicted("web-1", "a", 1), evicted("job-4-1", "a", 2), evicted("api-1", "a", 3)];
    expect(figuresOf(aRecord({ events }))).toMatchObject({ servicePodsEvicted: 2, jobsRestarted: 1 });
  });

  it("how long pods waited: the median and the 95th percentile, and nothing without pods", () => {
    const waits = Array.from({ length: 100 }, (_, i) => (i + 1) * 1_000);
    expect(figuresOf(aRecord({ waits }))).toMatchObject({ waitMedian: 51, wait95th: 96 });
    expect(figuresOf(aRecord({}))).toMatchObject({ waitMedian: undefined, driftDone: undefined });
  });
});

it("compares each arm with the holder on the traces that both have run", () => {
  const run = (arm: ArmName, trace: TraceName, events: ArmRecord["events"]) =>
    archived(aRecord({ arm, trace, events }));
  // Ten node-minutes and one launch for each node that stays; ten for the eviction.
  const [once, twice] = [[joined("a", 0)], [joined("a", 0), joined("b", 0), evicted("web-1", "a", 1)]];
  const records = [
    run("auto", "dense", once),
    run("auto", "ci", twice),
    run("none", "dense", twice),
    run("none", "sparse", twice),
    run("holder-30s", "dense", once),
    run("holder-30s", "ci", once),
    run("balanced", "sparse", once),
  ];
  expect(cellsOf(totals(records).at(-1))).toEqual([
    ["`none`", "1", "20 / 10", "2 / 1", "1 / 0", "32 / 11", "2.91"],
    ["`auto`", "2", "30 / 20", "3 / 2", "1 / 0", "43 / 22", "1.95"],
  ]);
  expect(totals([run("none", "dense", once)])).toEqual([]);
});

it("sets the holder beside consolidateAfter, and names the traces on which it is dominated", () => {
  const native = [joined("a", 0), evicted("job-1", "a", 5)];
  const run = (trace: TraceName, arm: ArmName, events: ArmRecord["events"]) =>
    aRecord({ trace, arm, events });
  const records = [
    run("vary", "holder", [...native, gone("a", 590)]),
    run("vary", "consolidate-after", native),
    run("shrink", "holder", native),
    run("shrink", "consolidate-after", [...native, gone("a", 300)]),
    // It costs more, but spares a pod.
    run("dense", "holder", [joined("a", 0)]),
    run("dense", "consolidate-after", [...native, gone("a", 300)]),
    run("single", "holder", native),
  ];
  const [, , table, verdict] = comparison(records);
  expect(cellsOf(table)).toEqual([
    ["`dense`", "`holder`", "1", "1 / 1", "0 / 1", "10 / 5", "2.00", "no", "–"],
    ["`vary`", "`holder`", "1", "1 / 1", "1 / 1", "9.8 / 10", "0.98", "yes", "–"],
    ["`shrink`", "`holder`", "1", "1 / 1", "1 / 1", "10 / 5", "2.00", "no", "–"],
  ]);
  expect(verdict).toContain("That is so on `shrink` (`holder`, seed 1).");
  expect(comparison(records.slice(0, 2)).at(-1)).toContain("It is dominated nowhere.");
  expect(comparison(records.slice(-1))).toEqual([]);
});

it("has a colour of its own for each arm", () => {
  const colours = Object.values(arms).map(({ colour }) => colour);
  expect(new Set(colours).size).toBe(colours.length);
});

it("draws the sums of what all of its arms ran, and nothing where they share no trace", () => {
  const events = [joined("a", 0), joined("b", 0), evicted("web-1", "a", 1)];
  const shown = ["none", "consolidate-after", "holder-30s", "auto-30s"] as const;
  const all = shown.map((arm) => archived(aRecord({ arm, events })));
  const other = archived(aRecord({ arm: "none", trace: "vary", events }));
  expect(picturesOf([...all, other])["churn-all.svg"]).toContain("nodes launched: Karpenter alone 2,");
  expect(picturesOf([...all.slice(1), other])).not.toHaveProperty(["churn-all.svg"]);
});

it("scales a service by a change with replicas, and rolls it out by another", () => {
  const service = { name: "web", replicas: 2, cpu: "1", changes: [{ at: 10, replicas: 14 }, { at: 20 }] };
  const versionOf = (version: string) => ({ template: { metadata: { annotations: { version } } } });
  expect(serviceObject(service)).toMatchObject({ spec: { replicas: 2, ...versionOf("0") } });
  expect(serviceObject(service, 1)).toMatchObject({ spec: { replicas: 14, ...versionOf("0") } });
  expect(serviceObject(service, 2)).toMatchObject({ spec: { replicas: 14, ...versionOf("20") } });
});

describe.each(Object.keys(traces) as TraceName[])("the trace %s", (name) => {
  it("is the same for the same seed", () => {
    expect(traceOf(name, 7)).toEqual(traceOf(name, 7));
  });

  it.each([1, 2, 3])("leaves time for a hold to end after all but small jobs (seed %i)", (seed) => {
    const { jobs, services, lasts } = traceOf(name, seed);
    const large = jobs.filter(({ cpu }) => cpu > smallCpu);
    const ends = [
      ...large.map(({ at: begin, runs }) => begin + runs),
      ...services.flatMap(({ changes = [] }) => changes.map(({ at: begin }) => begin)),
    ];
    expect(Math.max(...ends) + 130).toBeLessThan(lasts);
  });

  it("gives every job a name of its own", () => {
    const { jobs } = traceOf(name, 1);
    expect(new Set(jobs.map((job) => job.name)).size).toBe(jobs.length);
  });
});
