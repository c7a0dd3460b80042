import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { demandOf } from "../../../lab/days/bound.ts";
import { generators, traceOf } from "../../../lab/days/traces/names.ts";
import { spanOf, traceOfPods } from "../../../lab/days/traces/pods.ts";
import { amountOf, gibOf } from "../../../lab/days/traces/quantity.ts";
import { parseTrace, poolsOf, type Trace } from "../../../lab/days/traces/trace.ts";
import { day, hour } from "../../../lab/days/traces/work.ts";
import { misfitsOf, typesOf } from "../../../lab/days/worlds.ts";
import { newFolder } from "../../support/new-folder.ts";

const names = [...generators.keys()];

describe.each(names)("the trace %s", (name) => {
  const trace = traceOf(name, 1);

  it("is the same for the same seed", () => {
    expect(traceOf(name, 1)).toEqual(trace);
  });

  it("can be written to a file and read again", () => {
    expect(parseTrace(JSON.parse(JSON.stringify(trace)), name)).toEqual(trace);
  });

  it("fits on the nodes of every world but the smallest, and says what it is", () => {
    expect(misfitsOf(trace, typesOf("four"))).toEqual([]);
    expect(trace.about).toBeTruthy();
  });
});

it.each(["day", "week", "bursts", "ci", "quiet", "shrinking"])("%s differs by seed", (name) => {
  expect(traceOf(name, 2).jobs).not.toEqual(traceOf(name, 1).jobs);
});

const peak = (trace: Trace) => demandOf(trace).reduce((a, b) => (b.cores > a.cores ? b : a));

describe.each([1, 2, 3, 4])("a day with seed %i", (seed) => {
  const trace = traceOf("day", seed);
  const demand = demandOf(trace);
  const jobsOf = (prefix: string) => trace.jobs.filter(({ name }) => name.startsWith(prefix));

  it("needs about 20 nodes of 8 cores at its peak, and less than half of that at night", () => {
    const { cores } = peak(trace);
    expect(cores / 8).toBeGreaterThan(14);
    expect(cores / 8).toBeLessThan(30);
    const quietest = Math.min(
      ...demand.filter(({ at }) => at > 3 * hour && at < 5 * hour).map((one) => one.cores),
    );
    expect(quietest).toBeLessThan(0.4 * cores);
  });

  it("has a nightly batch of about forty jobs, cron jobs of every minute to every hour, and CI by day", () => {
    expect(jobsOf("nightly").length).toBeGreaterThanOrEqual(36);
    expect(jobsOf("nightly").length).toBeLessThanOrEqual(44);
    expect(jobsOf("cron-1m")).toHaveLength(24 * 60 - 1);
    expect(jobsOf("cron-1h")).toHaveLength(23);
    const byDay = jobsOf("ci-").filter(({ at }) => at > 8 * hour && at < 20 * hour);
    expect(byDay.length).toBeGreaterThan(0.55 * jobsOf("ci-").length);
    const lengths = jobsOf("ci-")
      .map(({ runs }) => runs)
      .toSorted((a, b) => a - b);
    // Few jobs are long.
    expect(Math.max(...lengths)).toBeGreaterThan(8 * (lengths[Math.floor(lengths.length / 2)] ?? 0));
  });

  it("scales its services every few minutes and rolls some out", () => {
    const changes = trace.services.flatMap((service) => service.changes ?? []);
    const [steps, versions] = [true, false].map((scales) =>
      changes.filter((one) => (one.replicas !== undefined) === scales),
    );
    expect(steps?.length).toBeGreaterThan(200);
    expect(versions?.length).toBeGreaterThan(2);
    expect(trace.services.filter(({ surge }) => surge === 0.25).length).toBeGreaterThan(3);
  });

  it("has everything else that disturbs: a second NodePool, DaemonSets, budgets, do-not-disrupt", () => {
    expect(poolsOf(trace)).toEqual(["default", "memory"]);
    expect(trace.daemons).toHaveLength(2);
    expect(trace.services.filter(({ pdb }) => pdb).length).toBeGreaterThan(2);
    expect(
      [...trace.services, ...trace.jobs].filter(({ doNotDisrupt }) => doNotDisrupt).length,
    ).toBeGreaterThan(2);
  });

  it(`drifts at noon ${seed % 2 === 0 ? "" : "not "}at all`, () => {
    expect(trace.drifts).toEqual(seed % 2 === 0 ? [{ at: 13 * hour }] : []);
  });
});

it("a week has a weekend that needs less, a drift and interruptions", () => {
  const trace = traceOf("week", 1);
  const most = (from: number, to: number) =>
    Math.max(
      ...demandOf(trace)
        .filter(({ at }) => at >= from * day && at < to * day)
        .map(({ cores }) => cores),
    );
  expect(trace.lasts).toBe(7 * day);
  expect(most(5, 7)).toBeLessThan(0.7 * most(0, 5));
  expect(trace.drifts).toHaveLength(1);
  expect(trace.interruptions.length).toBeGreaterThan(2);
});

it("shrinking ends with a small part of what it began with", () => {
  const demand = demandOf({ ...traceOf("shrinking", 1), jobs: [] });
  expect(demand.at(-1)?.cores).toBeLessThan(0.25 * (demand[0]?.cores ?? 0));
});

describe("a file that is no trace", () => {
  const problemsOf = (value: unknown) => () => parseTrace(value, "trace.json");

  it.each([
    [{}, "lasts is missing"],
    [{ lasts: 0 }, "lasts must be a length in seconds above 0"],
    [{ lasts: 60, job: [] }, "job is unknown: did you mean jobs?"],
    [
      { lasts: 60, services: [{ name: "web", replicas: 1.5, cpu: "1" }] },
      "services[0].replicas must be a whole number from 0",
    ],
    [
      { lasts: 60, services: [{ name: "web", replica: 1, cpu: "1" }] },
      "services[0].replicas is missing; services[0].replica is unknown: did you mean replicas?",
    ],
    [
      { lasts: 60, services: [{ name: "web", replicas: 1, cpu: "lots" }] },
      "services[0].cpu must be an amount like 500m, 2, 512Mi or 4Gi",
    ],
    [
      { lasts: 60, services: [{ name: "web", replicas: 1, cpu: 1, pdb: {} }] },
      "services[0].pdb must be an object with either maxUnavailable or minAvailable",
    ],
    [
      { lasts: 60, services: [{ name: "Web_1", replicas: 1, cpu: 1 }] },
      "services[0].name must be a name of lower case letters",
    ],
    [{ lasts: 60, jobs: [{ name: "a", at: 61, runs: 5, cpu: 1 }] }, "jobs[0].at must be within the trace"],
    [
      {
        lasts: 60,
        jobs: [
          { name: "a", at: 1, runs: 5, cpu: 1 },
          { name: "a", at: 2, runs: 5, cpu: 1 },
        ],
      },
      "jobs: the name a occurs twice",
    ],
    [
      {
        lasts: 60,
        services: [{ name: "web", replicas: 1, cpu: 1, changes: [{ at: 9, replicas: 2 }, { at: 8 }] }],
      },
      "services[0].changes[1].at must not be before the change above it",
    ],
    [[], "it must be an object"],
  ])("is refused with the field's name: %j", (value, message) => {
    expect(problemsOf(value)).toThrow(`trace.json is no trace that can be played: ${message}`);
  });

  it("is refused with all of its problems at once", () => {
    expect(problemsOf({ lasts: -1, jobs: [{ name: "a", at: 1, runs: 0, cpu: 1 }] })).toThrow(
      /lasts .*; jobs\[0\]\.runs /,
    );
  });
});

it("reads amounts as Kubernetes does", () => {
  expect(["500m", "2", 1.5, "1k"].map(amountOf)).toEqual([0.5, 2, 1.5, 1_000]);
  expect(["512Mi", "4Gi", undefined].map(gibOf)).toEqual([0.5, 4, 0]);
});

describe("a list of pods", () => {
  const write = (text: string) => {
    const file = join(newFolder(), "pods.csv");
    writeFileSync(file, text);
    return file;
  };
  const head = "name,scheduled_s,deleted_s,cpu_milli,memory_mib\n";

  it("becomes jobs: of a part those that ran in it, for as long as they did", async () => {
    const file = write(`${head}a,0,120,3000,0\nb,60,300,2000,512\nc,400,460,1000,1\nd,20,40,1,1\n`);
    const { lasts, jobs } = await traceOfPods(file, { from: 50, lasts: 200 });
    expect(lasts).toBe(200);
    expect(jobs).toEqual([
      { name: "pod-2", at: 0, runs: 70, cpu: 3, image: "batch" },
      { name: "pod-3", at: 10, runs: 240, cpu: 2, memory: "512Mi", image: "batch" },
    ]);
    expect(await spanOf(file)).toEqual({ first: 0, last: 460 });
  });

  it("that cannot be read is refused with its line", async () => {
    await expect(traceOfPods(write(`${head}a,0,x,1,1\n`), { from: 0, lasts: 10 })).rejects.toThrow(
      /line 2 must have/,
    );
  });

  it("in which nothing ran is refused", async () => {
    const file = write(`${head}a,0,5,1,1\n`);
    await expect(traceOfPods(file, { from: 10, lasts: 10 })).rejects.toThrow(
      "no pod ran between second 10 and 20",
    );
  });
});

it("names the pods that no node has room for", () => {
  const trace = parseTrace(
    { lasts: 60, jobs: [{ name: "big", at: 0, runs: 5, cpu: 9, memory: "2Gi" }] },
    "t",
  );
  expect(misfitsOf(trace, typesOf("one"))).toEqual([
    "big needs 9 cores and 2.0 GiB, which no node of m.2xlarge has",
  ]);
  expect(misfitsOf(trace, typesOf("four"))).toEqual([]);
});
