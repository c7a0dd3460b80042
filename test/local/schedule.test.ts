import { describe, expect, it } from "vitest";
import { readSchedule } from "../../local/run/schedule.ts";

/** The last time up to a moment and the next one after it. */
const around = (schedule: string, timeZone: string, moment: string) => {
  const { last, next } = readSchedule(schedule, timeZone);
  const at = new Date(moment);
  return [last(at)?.toISOString().replace(":00.000Z", "Z"), next(at)?.toISOString().replace(":00.000Z", "Z")];
};

describe("a schedule of AWS", () => {
  it.each([
    // A Tuesday.
    ["cron(0 8 ? * MON-FRI *)", "UTC", "2026-11-24T08:00:00Z", "2026-11-24T08:00Z", "2026-11-25T08:00Z"],
    ["cron(0 8 ? * MON-FRI *)", "UTC", "2026-11-24T07:59:59.999Z", "2026-11-23T08:00Z", "2026-11-24T08:00Z"],
    ["cron(0 8 ? * MON-FRI *)", "UTC", "2026-11-28T12:00:00Z", "2026-11-27T08:00Z", "2026-11-30T08:00Z"],
    ["cron(0 8 ? * 1 *)", "UTC", "2026-11-24T12:00:00Z", "2026-11-22T08:00Z", "2026-11-29T08:00Z"],
    ["cron(0 8 ? * L *)", "UTC", "2026-11-24T12:00:00Z", "2026-11-21T08:00Z", "2026-11-28T08:00Z"],
    ["cron(0 8 ? * 6L *)", "UTC", "2026-11-24T12:00:00Z", "2026-10-30T08:00Z", "2026-11-27T08:00Z"],
    ["cron(0 8 ? * friL *)", "UTC", "2026-11-24T12:00:00Z", "2026-10-30T08:00Z", "2026-11-27T08:00Z"],
    ["cron(9 23 ? * 6#3 2026-2027)", "UTC", "2026-11-24T12:00:00Z", "2026-11-20T23:09Z", "2026-12-18T23:09Z"],
    ["cron( 0  8 15W * ? * )", "UTC", "2026-11-24T12:00:00Z", "2026-11-16T08:00Z", "2026-12-15T08:00Z"],
    ["cron(0 0 L JAN,jul ? *)", "UTC", "2026-11-24T12:00:00Z", "2026-07-31T00:00Z", "2027-01-31T00:00Z"],
    ["cron(5/20 8-18 1,24 * ? *)", "UTC", "2026-11-24T08:30:00Z", "2026-11-24T08:25Z", "2026-11-24T08:45Z"],
    ["cron(0 8 1 1 ? 2026)", "UTC", "2026-11-24T12:00:00Z", "2026-01-01T08:00Z", undefined],
    ["cron(0 8 * * ? *)", "Europe/Berlin", "2026-11-24T12:00:00Z", "2026-11-24T07:00Z", "2026-11-25T07:00Z"],
    ["at(2026-11-24T08:00:00)", "Europe/Berlin", "2026-11-24T06:59:00Z", undefined, "2026-11-24T07:00Z"],
    ["at(2026-11-24T08:00:00)", "Europe/Berlin", "2026-11-24T07:00:00Z", "2026-11-24T07:00Z", undefined],
    ["rate(1 hour)", "UTC", "2026-11-24T12:30:00Z", "2026-11-24T12:00Z", "2026-11-24T13:00Z"],
    ["rate(30 minutes)", "UTC", "2026-11-24T12:30:00Z", "2026-11-24T12:30Z", "2026-11-24T13:00Z"],
    ["rate(2 days)", "UTC", "2026-11-24T12:30:00Z", "2026-11-23T00:00Z", "2026-11-25T00:00Z"],
  ])("%s in %s begins before and after %s at %s and %s", (schedule, timeZone, moment, last, next) => {
    expect(around(schedule, timeZone, moment)).toEqual([last, next]);
  });

  it("goes on by the clock on the wall when clocks change", () => {
    const eight = (moment: string) => around("cron(0 8 * * ? *)", "Europe/Berlin", moment);
    expect(eight("2026-03-28T12:00:00Z")).toEqual(["2026-03-28T07:00Z", "2026-03-29T06:00Z"]);
    expect(eight("2026-10-24T12:00:00Z")).toEqual(["2026-10-24T06:00Z", "2026-10-25T07:00Z"]);
  });

  it.each(["cron(30 2 * * ? *)", "cron(15,30 2 * * ? *)"])(
    "%s skips a time that clocks leave out",
    (schedule) => {
      const [last, next] = around(schedule, "Europe/Berlin", "2026-03-29T12:00:00Z");
      expect([last, next?.slice(0, 10)]).toEqual(["2026-03-28T01:30Z", "2026-03-30"]);
      expect(around(schedule, "Europe/Berlin", "2026-03-28T02:00:00Z")[1]?.slice(0, 10)).toBe("2026-03-30");
    },
  );

  it.each(["cron(30 2 * * ? *)", "cron(30 2,4 * * ? *)"])(
    "%s takes a time once that clocks repeat",
    (schedule) => {
      const [last, next] = around(schedule, "Europe/Berlin", "2026-10-25T00:45:00Z");
      expect(last).toBe("2026-10-25T00:30Z");
      expect(next).not.toBe("2026-10-25T01:30Z");
    },
  );

  it("is refused by its name where it cannot be used", () => {
    expect(() => readSchedule("cron(0 22-2 ? * FRI *)", "UTC")).toThrow(
      /^The schedule cron\(0 22-2 \? \* FRI \*\) cannot be used: /,
    );
  });
});
