import { describe, expect, it } from "vitest";
import { agreementOf, type Counted } from "../../lab/wall-clock/agreement.ts";
import { serviceObject } from "../../lab/wall-clock/cluster-objects.ts";
import { figuresOf } from "../../lab/wall-clock/figures.ts";
import type { Played } from "../../lab/wall-clock/play.ts";
import { at, evicted, gone, joined } from "../report/events.ts";

const aRecord = (record: Partial<Played>): Played => ({
  trace: "dense",
  arm: "hold-100s",
  seed: 1,
  share: 1,
  from: at(0),
  to: at(600),
  unfinished: 0,
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

  it("how long pods waited: the median and the 95th percentile, and nothing without pods", () => {
    const waits = Array.from({ length: 100 }, (_, i) => (i + 1) * 1_000);
    expect(figuresOf(aRecord({ waits }))).toMatchObject({ waitMedian: 51, wait95th: 96 });
    expect(figuresOf(aRecord({}))).toMatchObject({ waitMedian: undefined, driftDone: undefined });
  });
});

it("scales a service by a change with replicas, and rolls it out by another", () => {
  const service = { name: "web", replicas: 2, cpu: "1", changes: [{ at: 10, replicas: 14 }, { at: 20 }] };
  const versionOf = (version: string) => ({ template: { metadata: { annotations: { version } } } });
  expect(serviceObject(service)).toMatchObject({ spec: { replicas: 2, ...versionOf("0") } });
  expect(serviceObject(service, 1)).toMatchObject({ spec: { replicas: 14, ...versionOf("0") } });
  expect(serviceObject(service, 2)).toMatchObject({ spec: { replicas: 14, ...versionOf("20") } });
});

describe("both clocks agree", () => {
  const run = (nodeMinutes: number, launched = 10, evicted = 4): Counted => ({
    nodeMinutes,
    launched,
    evicted,
  });

  it("where node time differs by 15 % at most, and launches and evictions by chance alone", () => {
    const { line, differences } = agreementOf([run(40), run(42, 12, 4)], [run(46, 13, 3), run(48, 13, 3)]);
    expect(differences).toEqual([]);
    expect(line).toBe("node-minutes 41.0 : 47.0, launched 10–12 : 13, evicted 4 : 3");
  });

  it.each([
    ["node time", [run(48)]],
    ["launched", [run(40, 12), run(40, 13)]],
    ["evicted", [run(40, 10, 0), run(40, 10, 2)]],
  ])("not where %s differs by more", (what, virtual) => {
    expect(agreementOf([run(40)], virtual).differences).toEqual([what]);
  });
});
