import { expect, it } from "vitest";
import { lintOfficeHours } from "../../cli/advise/office-hours.ts";

const inNovember = new Date("2026-11-23T00:00:00Z");
const inJune = new Date("2026-06-22T00:00:00Z");

type Given = Readonly<{ week?: Date; nodes?: string }>;
const find = (
  timeZone: string,
  schedule: string,
  duration: string,
  { week = inNovember, nodes = "0" }: Given = {},
) => lintOfficeHours({ nodes, schedule, duration, reasons: null }, { week, timeZone });

it.each([
  // Office hours in UTC are some there in winter, and are late in summer.
  ["Europe/Berlin", "0 8 * * mon-fri", "10h", 'schedule: "0 6 * * mon-fri", duration: 11h'],
  ["Europe/Berlin", "0 8 * * mon-fri", "8h", 'schedule: "0 6 * * mon-fri", duration: 9h'],
  ["Europe/London", "0 9 * * mon-fri", "8h", 'schedule: "0 8 * * mon-fri", duration: 9h'],
  ["America/New_York", "30 8 * * *", "9h", 'schedule: "30 12 * * *", duration: 10h'],
  ["Asia/Tokyo", "20 9 * * mon-fri", "8h", 'schedule: "20 0 * * mon-fri"'],
  ["Asia/Kolkata", "0 9 * * *", "8h", 'schedule: "30 3 * * *"'],
])("finds office hours that were meant in %s: %s, %s", (timeZone, schedule, duration, change) => {
  expect(find(timeZone, schedule, duration)).toMatchObject({ rule: "window-in-utc", change });
});

it.each([
  ["Europe/Berlin", "0 7 * * mon-fri", "9h"],
  ["Europe/London", "0 8 * * mon-fri", "9h"],
  ["Europe/Berlin", "0 7 * * mon-fri", "11h"],
  ["Europe/Berlin", "0 8 * * mon-fri", "1h"],
  ["UTC", "0 9 * * mon-fri", "8h"],
  ["Africa/Abidjan", "0 9 * * mon-fri", "8h"],
])("finds nothing in hours that suit %s all year, and in others than office hours: %s, %s", (...given) => {
  expect(find(...given)).toBeUndefined();
});

it.each(["Europe/Berlin", "Europe/London", "America/New_York", "Australia/Sydney"])(
  "finds the same in each season in %s",
  (timeZone) => {
    const [winter, summer] = [inNovember, inJune].map((week) => find(timeZone, "0 9 * * *", "8h", { week }));
    expect(winter?.rule).toBe("window-in-utc");
    expect(summer).toEqual(winter);
  },
);

it("says by how much they are wrong, and finds nothing in a longer budget that is right all year", () => {
  expect(find("Europe/London", "0 9 * * *", "8h")?.problem).toBe(
    'The budget nodes: "0", schedule: "0 9 * * *", duration: 8h is in UTC, as all are: in Europe/London it begins ' +
      "at 09:00 in January and at 10:00 in July. If 09:00 there was meant, it is wrong by 1h in July. " +
      "A budget does not follow summer time: a longer one is right in both.",
  );
  const longest = find("Europe/London", "0 9 * * *", "10h");
  expect(longest?.change).toBe('schedule: "0 8 * * *", duration: 11h');
  expect(find("Europe/London", "0 8 * * *", "11h")).toBeUndefined();
});

it("says where that is on another day in UTC", () => {
  expect(find("Pacific/Auckland", "0 9 * * mon-fri", "8h")?.problem).toMatch(
    /on another day: shift the days, too\.$/,
  );
});

it("opens an evening later and for a shorter time, so that office hours stay closed all year", () => {
  const evening = find("Europe/Berlin", "0 18 * * *", "14h", { nodes: "10%" });
  expect(evening).toMatchObject({
    problem: expect.stringMatching(/a shorter one is right in both\.$/),
    change: 'schedule: "0 17 * * *", duration: 13h',
  });
});
