import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { demandOf } from "../../../lab/days/bound.ts";
import { loadTrace } from "../../../lab/days/spec.ts";
import { generators, traceOf } from "../../../lab/days/traces/names.ts";
import { amountOf, gibOf } from "../../../lab/days/traces/quantity.ts";
import { fieldNames, parseTrace, poolsOf, type Trace } from "../../../lab/days/traces/trace.ts";
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
    // Work that names none would share the nodes of the second one.
    const named = new Set([...trace.services, ...trace.jobs].map(({ pool }) => pool));
    expect(named).toEqual(new Set(["default", "memory"]));
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

describe("the example of a trace file", () => {
  const file = "lab/days/traces/example.json";
  const text = readFileSync(file, "utf8");

  it("can be played", () => {
    expect(misfitsOf(parseTrace(JSON.parse(text), file), typesOf("one"))).toEqual([]);
  });

  it("has every field", () => {
    expect(fieldNames.filter((name) => !text.includes(`"${name}":`))).toEqual([]);
  });
});

it.each(["utf8", "utf16le"] as const)("a file may begin with a byte order mark: %s", async (encoding) => {
  const file = join(newFolder(), "trace.json");
  writeFileSync(file, `\ufeff{"lasts": 60}\r\n`, encoding);
  const { lasts, services } = await loadTrace({ kind: "file", name: "trace.json", file }, 1);
  expect({ lasts, services }).toEqual({ lasts: 60, services: [] });
});

it("lasts whole seconds, so that its last hundredth is played", () => {
  // 3600.016 * 100 / 100 is more than 3600.016, and the engine plays nothing after the end.
  expect(parseTrace({ lasts: 3600.016 }, "trace.json").lasts).toBe(3_601);
});

it("names may have dots, as in Kubernetes", () => {
  const jobs = [{ name: "nightly.v1-2", at: 0, runs: 5, cpu: 1 }];
  expect(parseTrace({ lasts: 60, jobs }, "trace.json").jobs).toEqual(jobs);
});

describe("a file that is no trace", () => {
  const web = (fields: object) => ({
    lasts: 60,
    services: [{ name: "web", replicas: 1, cpu: 1, ...fields }],
  });
  const job = (fields: object) => ({ name: "a", at: 1, runs: 5, cpu: 1, ...fields });
  const problemsOf = (value: unknown) => () => parseTrace(value, "trace.json");

  it.each([
    [{}, "lasts is missing"],
    [{ lasts: 0 }, "lasts must be a length in seconds above 0"],
    [{ lasts: 1e12 }, "lasts must be a length in seconds above 0, of at most a year"],
    [web({ starts: 1e12 }), "services[0].starts must be a time in seconds from 0, of at most a year"],
    [{ lasts: 60, job: [] }, "job is unknown: did you mean jobs?"],
    [web({ replicas: 1.5 }), "services[0].replicas must be a whole number from 0"],
    [web({ replicas: 1e20 }), "services[0].replicas must be a whole number from 0"],
    [
      { lasts: 60, services: [{ name: "web", replica: 1, cpu: "1" }] },
      "services[0].replicas is missing; services[0].replica is unknown: did you mean replicas?",
    ],
    [web({ cpu: "lots" }), "services[0].cpu must be an amount of 1m or more, like 500m, 2, 512Mi or 4Gi"],
    [web({ pdb: {} }), "services[0].pdb must be an object with either maxUnavailable or minAvailable"],
    [web({ name: "Web_1" }), "services[0].name must be a name of lower case letters"],
    [{ lasts: 60, jobs: [job({ at: 61 })] }, "jobs[0].at must be within the trace"],
    [{ lasts: 60, drifts: [{ at: 60 }, { at: 61 }] }, "drifts[1].at must be within the trace"],
    [{ lasts: 60, interruptions: [{ at: 61 }] }, "interruptions[0].at must be within the trace"],
    [
      web({ changes: [{ at: 61 }] }),
      "services[0].changes[0].at must be within the trace, which lasts 60 seconds",
    ],
    [
      { lasts: 60, interruptions: [{ at: 1, count: 0 }] },
      "interruptions[0].count must be a whole number from 1",
    ],
    [{ lasts: 60, jobs: [job({}), job({ at: 2 })] }, "jobs: the name a occurs twice"],
    [
      web({ changes: [{ at: 9, replicas: 2 }, { at: 8 }] }),
      "services[0].changes[1].at must not be before the change above it",
    ],
    [
      { ...web({}), jobs: [job({ name: "web-0" })] },
      "jobs: pods of web-0 could be called like those of the service web",
    ],
    [[], "it must be an object"],
  ])("is refused with the field's name: %j", (value, message) => {
    expect(problemsOf(value)).toThrow(`trace.json is no trace that can be played: ${message}`);
  });

  it("is refused with all of its problems at once", () => {
    expect(problemsOf({ lasts: -1, jobs: [job({ runs: 0 })] })).toThrow(/lasts .*; jobs\[0\]\.runs /);
  });
});

it.each([
  ["cpu", 0],
  ["cpu", "0.5m"],
  ["cpu", 1e21],
  ["memory", "512ki"],
])("an amount that no node could count is refused: %s %j", (field, amount) => {
  const service = { name: "web", replicas: 1, cpu: 1, [field]: amount };
  expect(() => parseTrace({ lasts: 60, services: [service] }, "trace.json")).toThrow(
    `services[0].${field} must be an amount of 1m or more, like 500m, 2, 512Mi or 4Gi`,
  );
});

it("reads amounts as Kubernetes does, of memory in GiB", () => {
  expect(["500m", 1.5].map(amountOf)).toEqual([0.5, 1.5]);
  expect(["512Mi", undefined].map(gibOf)).toEqual([0.5, 0]);
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
