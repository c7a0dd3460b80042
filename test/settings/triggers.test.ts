import { expect, it } from "vitest";
import { checkDeployment } from "../../infra/settings/deployment.ts";
import {
  holdMessage,
  problemsOfTrigger,
  problemsOfWindow,
  windowMessage,
  windowPattern,
} from "../../infra/settings/windows.ts";
import { hours } from "../../lambda/core/duration.ts";
import { someRules } from "../support/builders.ts";

const rules = someRules({ maxRequest: hours(8) });
const ofPools = someRules({ scope: "nodepool", nodePools: { only: [], except: ["gpu"] } });

const wrongLength = "for must be a duration from 1m to 8h (maxRequest), like 30m, not";
const noPool = 'scope must be "cluster" or left out, because the holder\'s scope is cluster, not';
const aPool = 'scope must be "nodepool/NAME", because the holder\'s scope is nodepool,';
const another = "scope must name a NodePool that nodePools does not leave out, not";
it.each([
  [{ for: "30s" }, rules, `${wrongLength} "30s"`],
  [{ for: "9h" }, rules, `${wrongLength} "9h"`],
  [{ for: "30m", scope: "nodepool/batch" }, rules, `${noPool} "nodepool/batch"`],
  [{ for: "30m" }, ofPools, `${aPool} but is missing`],
  [{ for: "30m", scope: "batch" }, ofPools, `${aPool} not "batch"`],
  [{ for: "30m", scope: "nodepool/gpu" }, ofPools, `${another} "nodepool/gpu"`],
])("refuses a trigger that does not fit the holder's settings: %j", (trigger, settings, problem) => {
  expect(problemsOfTrigger(trigger, settings)).toEqual([problem]);
});

it("accepts a trigger that fits, whatever maxHold is: a request has its own end", () => {
  for (const trigger of [{ for: "8h", scope: "cluster" }, { for: "1m" }])
    expect(problemsOfTrigger(trigger, rules)).toEqual([]);
  expect(problemsOfTrigger({ for: "30m", scope: "nodepool/batch" }, ofPools)).toEqual([]);
});

it("lets a window be as long as a week", () => {
  const ofWindow = (length: string) =>
    problemsOfWindow({ schedule: "rate(7 days)", timeZone: "UTC", for: length }, rules);
  expect(ofWindow("168h")).toEqual([]);
  expect(ofWindow("169h")).toEqual(['for must be a duration from 1m to 168h, like 30m, not "169h"']);
});

it("sends requests by the name of their rule or window, so that each can be released by itself", () => {
  const about = { cause: "event", name: "Deploys", at: "now" } as const;
  expect(holdMessage({ ...about, id: "7" }, { for: "30m" })).toEqual({
    hold: { ...about, for: "30m", scope: "cluster", reason: "event Deploys (7)" },
  });
  const window = { schedule: "rate(1 day)", timeZone: "UTC", for: "2h", scope: "nodepool/batch" };
  expect(JSON.parse(windowMessage(window))).toMatchObject({
    hold: { cause: "window", name: "rate(1 day) UTC", scope: "nodepool/batch" },
  });
});

const problemsOf = (schedule: string, timeZone: string) =>
  problemsOfWindow({ schedule, timeZone, for: "30m" }, rules);

it.each([
  "cron(0 8 ? * MON-FRI *)",
  "cron(0/15 8-18 1,15 * ? 2027)",
  "cron(0 0 L JAN,jul ? *)",
  "cron(30 23 ? * 6#3 2026-2030)",
  "cron( 0  8 15W * ? * )",
  "cron(0 8 ? * 6L *)",
  "rate(10 days)",
  "rate(1 minutes)",
  "at(2026-12-24T08:00:00)",
  "at(2028-02-29T23:59:59)",
  "cron(0 8 29 2 ? *)",
  "cron(0 8 31W 1/2 ? *)",
  "cron(0 22-2 ? * FRI-MON 2024-2026)",
  "cron(0 8 ? FEB 2#5 2028)",
])("takes the schedule %s", (schedule) => {
  expect(problemsOf(schedule, "Asia/Kolkata")).toEqual([]);
});

it.each([
  "cron(0 8 * * MON-FRI)",
  "cron(0 8 * * MON-FRI *)",
  "cron(0 8 ? * ? *)",
  "cron(60 8 ? * * *)",
  "cron(0 24 ? * * *)",
  "cron(0 8 ? * Monday *)",
  "cron(0 8 ? * MON *) 30m",
  "a cron(0 8 ? * MON *)",
  "cron(0 8 ? * MON * *)",
  "cron(0/0 8 ? * MON *)",
  "cron(0 8 ? * MON 2200)",
  "cron(0 8 32 * ? *)",
  "cron(0 8 ? ? MON *)",
  "cron(0 8 ? * 6#6 *)",
  "cron(0 8 ? * MON-FRI#2 *)",
  "cron(, 8 ? * MON *)",
  "rate(0 days)",
  "rate(0 minutes)",
  "rate(1.5 hours)",
  "rate(1 week)",
  "at(2026-12-24T24:00:00)",
  "at(2027-02-29T08:00:00)",
  "at(2026-12-24)",
  "a rate(1 day)",
  "rate(1 day) 30m",
  "at(tomorrow)",
  "look at(2026-12-24T08:00:00)",
  "at(2026-12-24T08:00:00) 30m",
  "0 8 * * *",
])("refuses the schedule %s", (schedule) => {
  expect(problemsOf(schedule, "UTC")).toEqual([
    expect.stringMatching(/^schedule must be cron\(…\) with six .+, like cron\(0 8 \? .+\), not "/),
  ]);
});

it.each([
  "cron(0 8 31 2 ? *)",
  "cron(0 8 31W FEB,APR ? *)",
  "cron(0 8 31 4/5 ? *)",
  "cron(0 8 29 FEB ? 2027)",
  "cron(0 8 ? FEB MON#5 2027)",
  "cron(0 8 ? * MON 2020-2025)",
  "at(2025-12-24T08:00:00)",
])("refuses the schedule %s, on which no window ever begins", (schedule) => {
  expect(problemsOf(schedule, "UTC")).toEqual([`schedule must name a day from 2026 on, not "${schedule}"`]);
});

it.each([
  ["Berlin", ": did you mean Europe/Berlin?"],
  ["europe/berlin", ": did you mean Europe/Berlin?"],
  ["Europe/berlin", ": did you mean Europe/Berlin?"],
  ["CEST", ""],
  ["+01:00", ""],
])("refuses the time zone %s", (timeZone, remedy) => {
  expect(problemsOf("rate(1 day)", timeZone)).toEqual([
    `timeZone must be a name like Europe/Berlin, not "${timeZone}"${remedy}`,
  ]);
});

const windowsOf = (holdDuring: string, others = {}) =>
  checkDeployment({ cluster: "prod", holdDuring, ...others });

it("reads windows from one text: schedule, time zone, length and scope", () => {
  const text = "cron(0 8,14 ? * MON-FRI *) Europe/Berlin 2h; rate(1 day) 30m nodepool/batch";
  const { windows, problems } = windowsOf(text, { scope: "nodepool" });
  expect(problems).toEqual([expect.stringMatching(/^holdDuring: scope must be "nodepool\/NAME".+ missing$/)]);
  expect(windows).toEqual([
    { schedule: "cron(0 8,14 ? * MON-FRI *)", timeZone: "Europe/Berlin", for: "2h", scope: undefined },
    { schedule: "rate(1 day)", timeZone: "UTC", for: "30m", scope: "nodepool/batch" },
  ]);
});

it("knows no window with the separator of windows, which the chart would pass on as two", () => {
  expect(windowPattern.test("cron(0,30 8 ? * * *) 2h")).toBe(true);
  expect(windowPattern.test("cron(0;30 8 ? * * *) 2h")).toBe(false);
});

it("refuses a second window with the same schedule, time zone and scope: its requests would be duplicates", () => {
  const twice = (texts: string, others = {}) => windowsOf(texts, others).problems;
  const problem = "holdDuring: two windows have the same schedule, time zone and scope";
  expect(twice("rate(1 day) 2h; rate(1 day) UTC 3h cluster")).toEqual([problem]);
  expect(twice("rate(1 day) 2h; rate(1 day) Asia/Tokyo 2h")).toEqual([]);
  const pools = "rate(1 day) 2h nodepool/a; rate(1 day) 2h nodepool/b";
  expect(twice(pools, { scope: "nodepool" })).toEqual([]);
});

it.each(["weekdays", "cron(0 8 ? * * *)", "cron(0 8 ? * * *) 2h 3h", "rate(1 day) Europe/Berlin"])(
  "refuses the window %s, and shows one",
  (text) => {
    expect(windowsOf(text).problems).toEqual([
      expect.stringMatching(/^holdDuring must be windows .+, like cron\(0 8 .+ 2h, not "/),
    ]);
  },
);
