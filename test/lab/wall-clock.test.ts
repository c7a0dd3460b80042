import { describe, expect, it } from "vitest";
import { traceOf } from "../../lab/days/traces/names.ts";
import { agreementOf, type Counted } from "../../lab/wall-clock/agreement.ts";
import { serviceObject } from "../../lab/wall-clock/cluster-objects.ts";
import { beginOf, figuresOf } from "../../lab/wall-clock/figures.ts";
import type { Played } from "../../lab/wall-clock/play.ts";
import { configOf } from "../../lab/wall-clock/virtual.ts";
import { at, evicted, gone, joined } from "../report/events.ts";

const aRecord = (record: Partial<Played>): Played => ({
  trace: "dense",
  arm: "hold-100s",
  seed: 1,
  share: 1,
  from: at(0),
  to: at(600),
  events: [],
  waits: [],
  ...record,
});

describe("the lab on the wall clock counts", () => {
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

  it("how long pods waited: the 95th percentile, and nothing without pods", () => {
    const waits = Array.from({ length: 100 }, (_, i) => (i + 1) * 1_000);
    expect(figuresOf(aRecord({ waits }))).toMatchObject({ wait95th: 96 });
    expect(figuresOf(aRecord({}))).toMatchObject({ wait95th: undefined, driftDone: undefined });
  });
});

it("scales a service by a change with replicas, and rolls it out by another", () => {
  const service = { name: "web", replicas: 2, cpu: "1", changes: [{ at: 10, replicas: 14 }, { at: 20 }] };
  const versionOf = (version: string) => ({ template: { metadata: { annotations: { version } } } });
  expect(serviceObject(service)).toMatchObject({ spec: { replicas: 2, ...versionOf("0") } });
  expect(serviceObject(service, 1)).toMatchObject({ spec: { replicas: 14, ...versionOf("0") } });
  expect(serviceObject(service, 2)).toMatchObject({ spec: { replicas: 14, ...versionOf("20") } });
});

it("plays in virtual time with the begin of the wall clock, its ticks, and the nodes' boots that were measured", () => {
  const pulled = (node: string, second: number) =>
    ({ kind: "image pulled", node, image: "web", at: at(second) }) as const;
  const events = [joined("a", -3), joined("b", 10), pulled("a", -1), pulled("b", 13), pulled("b", 14)];
  expect(beginOf(aRecord({ events }))).toEqual({ begunBefore: 4.5, boot: [2, 3] });
  const { services, jobs } = traceOf("dense", 1);
  const { start, warmup, boot, trace } = configOf(aRecord({ events }), 1);
  expect({ start, warmup, boot }).toEqual({ start: at(0).toISOString(), warmup: 19.5, boot: [2, 3] });
  expect(trace.lasts).toBe(600);
  expect(trace.services[0]?.changes).toEqual([{ at: -4.5, replicas: services[0]?.replicas }]);
  const late = trace.jobs.map(({ at }, i) => at - (jobs[i]?.at ?? 0));
  expect(Math.min(...late)).toBeGreaterThan(0);
  expect([Math.max(...late) > 0.2, Math.max(...late) < 0.3]).toEqual([true, true]);
});

describe("both clocks agree", () => {
  const run = (nodeMinutes: number, launched = 10, evicted = 4, wait95 = 3): Counted => ({
    ...{ nodeMinutes, launched, evicted, wait95 },
  });

  it("where the node time is at most 15 % off the range, and those of launches and evictions by chance alone", () => {
    const { line, differences } = agreementOf(run(42, 12, 4), [run(48, 11, 3), run(58, 13, 3)]);
    expect(differences).toEqual([]);
    expect(line).toBe("node-minutes 42.0 : 48.0–58.0 (allowed 15 %), launched 12 : 11–13, evicted 4 : 3");
  });

  it("where node time differs by that of one node more, if one launch is apart", () => {
    expect(agreementOf(run(40, 10), [run(49.9, 11)]).differences).toEqual([]);
    expect(agreementOf(run(40, 10), [run(50.1, 11)]).differences).toEqual(["nodeMinutes"]);
    expect(agreementOf(run(40, 10), [run(49.9, 10)]).differences).toEqual(["nodeMinutes"]);
  });

  it("where node time differs by more on a machine that let pods wait longer, but by a third at most", () => {
    const differencesOf = (wait95: number, inVirtual: number) =>
      agreementOf(run(40, 10, 4, wait95), [run(inVirtual)]).differences;
    // Ten nodes, each 12 s later: 2 of 40 minutes.
    expect(differencesOf(15, 47.9)).toEqual([]);
    expect(differencesOf(15, 48.1)).toEqual(["nodeMinutes"]);
    expect(differencesOf(300, 53)).toEqual([]);
    expect(differencesOf(300, 54)).toEqual(["nodeMinutes"]);
  });

  it.each([
    ["nodeMinutes", [run(48), run(54)]],
    ["launched", [run(40, 12), run(40, 13)]],
    ["evicted", [run(40, 10, 8), run(40, 10, 9)]],
  ])("not where %s differs by more", (what, virtual) => {
    expect(agreementOf(run(40), virtual).differences).toEqual([what]);
  });
});
