import { describe, expect, it } from "vitest";
import { traceOf } from "../../lab/days/traces/names.ts";
import { agreementOf, type Counted } from "../../lab/wall-clock/agreement.ts";
import { serviceObject } from "../../lab/wall-clock/cluster-objects.ts";
import { beginOf, figuresOf } from "../../lab/wall-clock/figures.ts";
import type { PodTimes } from "../../lab/wall-clock/observer.ts";
import type { Played } from "../../lab/wall-clock/play.ts";
import { configOf } from "../../lab/wall-clock/virtual.ts";
import { at, evicted, gone, joined } from "../report/events.ts";

const dense = traceOf("dense", 1);

const aRecord = (record: Partial<Played>): Played => ({
  trace: "dense",
  arm: "hold-100s",
  seed: 1,
  share: 1,
  from: at(0),
  to: at(600),
  events: [],
  pods: [],
  made: dense,
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

  it("the most evictions from one node", () => {
    const events = [evicted("web-1", "a", 1), evicted("web-2", "b", 2), evicted("job-4-1", "b", 3)];
    expect(figuresOf(aRecord({ events })).evictedFromOne).toBe(2);
    expect(figuresOf(aRecord({})).evictedFromOne).toBe(0);
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
  const onNode = (node: string, second: number) => ({
    ...{ pod: `${node} ${second}`, created: at(-9), node, bound: at(-8), running: at(second) },
  });
  const events = [joined("a", -3), joined("b", 10)];
  const pods = [onNode("a", -1), onNode("b", 14), onNode("b", 13)];
  expect(beginOf(aRecord({ events, pods }))).toEqual({ begunBefore: 4.5, boot: [2, 3] });
  const { services, jobs } = dense;
  const { start, warmup, boot, trace } = configOf(aRecord({ events, pods }), 1);
  expect({ start, warmup, boot }).toEqual({ start: at(0).toISOString(), warmup: 19.5, boot: [2, 3] });
  expect(trace.lasts).toBe(600);
  expect(trace.services[0]?.changes).toEqual([{ at: -4.5, replicas: services[0]?.replicas }]);
  const late = trace.jobs.map(({ at }, i) => at - (jobs[i]?.at ?? 0));
  expect(Math.min(...late)).toBeGreaterThan(0);
  expect([Math.max(...late) > 0.2, Math.max(...late) < 0.3]).toEqual([true, true]);
});

it("plays in virtual time what came late on the wall clock", () => {
  const [job] = dense.jobs;
  if (!job) throw new Error("it has jobs");
  const pod = (attempt: number, times: Partial<PodTimes>) => ({
    ...{ pod: `${job.name}-${attempt}`, job: job.name, created: at(0), node: "a", ...times },
  });
  const booting = { pod: "web", created: at(0), node: "a", bound: at(6), running: at(20) };
  const playedAs = (...pods: PodTimes[]) => {
    const made = { services: [{ name: "web", replicas: 1, cpu: "1", changes: [{ at: 42.5, replicas: 3 }] }] };
    const record = aRecord({ pods: [...pods, booting], made: { ...made, drifts: [{ at: 7 }] } });
    const { trace } = configOf(record, 1);
    return { ...trace, job: trace.jobs.find(({ name }) => name === job.name) };
  };
  const whole = { created: at(4), bound: at(30), running: at(33), gone: at(93) };
  const { services, drifts, job: late } = playedAs(pod(1, whole));
  expect(services[0]?.changes?.at(-1)).toEqual({ at: 42.5, replicas: 3 });
  expect(drifts).toEqual([{ at: 7 }]);
  expect(late).toMatchObject({ at: 4, runs: 63 });
  // Its node was booting.
  expect(playedAs(pod(1, { ...whole, bound: at(8) })).job).toMatchObject({ at: 4, runs: 73 });
  // Evicted, and created again.
  const again = pod(2, { created: at(50), bound: at(52), running: at(53), gone: at(90) });
  expect(playedAs(pod(1, { ...whole, gone: at(49) }), again).job).toMatchObject({ at: 4, runs: 38 });
  // Not at its end when the play ended, which a job of the virtual clock is not to be either.
  expect(playedAs(pod(1, { created: at(1), bound: at(30), running: at(30) })).job?.runs).toBe(570);
  const waiting = playedAs(pod(1, { created: at(1) })).job;
  expect(waiting?.at).toBe(1);
  expect(waiting?.runs).toBeGreaterThan(job.runs + 1);
});

describe("both clocks agree", () => {
  const run = (nodeMinutes: number, launched = 10, evicted = 4): Counted => ({
    ...{ nodeMinutes, launched, evicted },
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
    // Not by all of the time of the only one.
    expect(agreementOf(run(40, 1), [run(53, 2)]).differences).toEqual([]);
    expect(agreementOf(run(40, 1), [run(54, 2)]).differences).toEqual(["nodeMinutes"]);
  });

  it("where as many more pods were evicted as one removal of this run evicts", () => {
    const evicting = (evicted: number) => ({ ...run(40, 10, evicted), evictedFromOne: 4 });
    expect(agreementOf(evicting(8), [run(40, 10, 4)]).differences).toEqual([]);
    expect(agreementOf(evicting(9), [run(40, 10, 4)]).differences).toEqual(["evicted"]);
  });

  it.each([
    ["nodeMinutes", [run(48), run(54)]],
    ["launched", [run(40, 12), run(40, 13)]],
    ["evicted", [run(40, 10, 8), run(40, 10, 9)]],
  ])("not where %s differs by more", (what, virtual) => {
    expect(agreementOf(run(40), virtual).differences).toEqual([what]);
  });
});
