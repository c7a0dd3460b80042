import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { armOf } from "../../../lab/days/arms.ts";
import { engineConfig } from "../../../lab/days/config.ts";
import { loadTrace } from "../../../lab/days/spec.ts";
import { generators, traceOf } from "../../../lab/days/traces/names.ts";
import { parseTrace, type Trace } from "../../../lab/days/traces/trace.ts";
import { typesOf } from "../../../lab/days/worlds.ts";
import { newFolder } from "../../support/new-folder.ts";

const playedOf = (trace: Trace) => {
  const arm = armOf("consolidate-after-0s");
  if (!arm) throw new Error("no arm");
  return engineConfig({ trace, arm, types: typesOf("one"), seed: 1 }).trace;
};

const traceWith = (services: readonly string[], jobs: readonly string[]) =>
  parseTrace(
    {
      lasts: 60,
      services: services.map((name) => ({ name, replicas: 1, cpu: 1 })),
      jobs: jobs.map((name) => ({ name, at: 1, runs: 5, cpu: 1 })),
    },
    "t",
  );

/** Pods of services are NAME-VERSION-SERIAL for the engine, those of jobs NAME-ATTEMPT. */
const canMeet = (service: string, job: string): boolean =>
  job.startsWith(`${service}-`) && /^\d+$/.test(job.slice(service.length + 1));

it("a job whose pods could have the names of a service's pods gets a name that nobody has", () => {
  const { services, jobs } = playedOf(
    traceWith(
      ["ci", "job-ci", "web-7"],
      ["ci-0", "ci-1", "job-job-ci-1", "job-job-job-ci-0", "web-7-12", "web-7"],
    ),
  );
  const names = jobs.map(({ name }) => name);
  expect(new Set(names).size).toBe(6);
  for (const service of services)
    expect(
      names.filter((job) => canMeet(service.name, job)),
      service.name,
    ).toEqual([]);
  expect(names.slice(2, 4)).toEqual(["job-job-ci-1", "job-job-job-ci-0"]);
  expect(names.at(-1)).toBe("web-7");
});

it("a job with another name has the image of its own name, as the engine makes it, or the one that it names", () => {
  const trace = traceWith(["ci"], ["ci-0", "ci-1"]);
  const [first, second] = trace.jobs;
  if (!first || !second) throw new Error("no jobs");
  const jobs = playedOf({ ...trace, jobs: [first, { ...second, image: "batch" }] }).jobs;
  expect(jobs.map(({ image }) => image)).toEqual(["ci", "batch"]);
});

it.each([...generators.keys()])("the jobs of %s keep their names, by which results are stored", (name) => {
  const { driftAlone: _, ...trace } = traceOf(name, 1);
  expect(JSON.stringify(playedOf(traceOf(name, 1)))).toBe(JSON.stringify(trace));
});

it("a job with the name of a service, or with a name that goes on otherwise, keeps it", () => {
  const names = ["web", "web-a", "web-1-2", "web1", "api-1"];
  expect(playedOf(traceWith(["web"], names)).jobs.map(({ name }) => name)).toEqual(names);
});

it("the file of a trace may begin with a byte order mark", async () => {
  const file = join(newFolder(), "trace.json");
  writeFileSync(file, `\ufeff{"lasts": 60}\r\n`);
  const { lasts, services } = await loadTrace({ kind: "file", name: "trace.json", file }, 1);
  expect({ lasts, services }).toEqual({ lasts: 60, services: [] });
});
