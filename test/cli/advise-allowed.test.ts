import * as v from "valibot";
import { expect, it } from "vitest";
import { allowedIn, midnightBefore, stretchesOf, wallClock, weekLength } from "../../cli/advise/allowed.ts";
import { whyUnreadable } from "../../cli/advise/budget-schedule.ts";
import { nodePoolSchema } from "../../cli/advise/objects.ts";
import { drawWeek, groupAlike, inWords } from "../../cli/advise/week.ts";
import fc from "../support/fast-check.ts";
import { aNodePool } from "./advise-cluster.ts";

/** A Monday. */
const monday = new Date("2026-11-23T00:00:00Z");
type Disruption = Readonly<Record<string, unknown>>;
function allowed(disruption: Disruption, from = monday, more: object = {}) {
  const [first, ...others] = allowedIn(
    v.parse(nodePoolSchema, aNodePool({ name: "default", disruption, ...more })),
    from,
  );
  if (!first) throw new Error("there is no reason");
  return [first, ...others] as const;
}
const words = (disruption: Disruption, more?: object) =>
  Object.fromEntries(allowed(disruption, monday, more).map((one) => [one.reason, inWords(one)]));
const everything = (text: string) => ({ Empty: text, Underutilized: text, Drifted: text });

it("allows a tenth of the nodes at any time by default", () => {
  expect(words({})).toEqual(everything("at any time, up to 10% of nodes at once"));
});

it("never consolidates where policy, time or a fixed number of nodes says so, but drift goes on", () => {
  expect(words({ consolidationPolicy: "WhenEmpty" }).Underutilized).toBe(
    "never: consolidationPolicy is WhenEmpty",
  );
  expect(words({ consolidationPolicy: "WhenEmpty" }).Empty).toMatch(/^at any time/);
  const never = words({ consolidateAfter: "Never" });
  expect([never.Empty, never.Underutilized]).toEqual(Array(2).fill("never: consolidateAfter is Never"));
  expect(never.Drifted).toMatch(/^at any time/);
  expect(words({}, { replicas: 3 }).Empty).toBe("never: the NodePool is static (replicas)");
});

it("lets the smallest of the active budgets count, each for its reasons", () => {
  const budgets = [{ nodes: "100%" }, { nodes: "20%" }, { nodes: "5" }, { nodes: "0", reasons: ["Drifted"] }];
  expect(words({ budgets })).toEqual({
    ...everything("at any time, up to the smaller of 20% of nodes and 5 nodes at once"),
    Drifted: "never: a budget of 0 is always active",
  });
});

it("limits nothing where no budget is active", () => {
  const budgets = [{ nodes: "10%", schedule: "0 0 * * *", duration: "12h", reasons: ["Empty"] }];
  expect(words({ budgets }).Empty).toBe(
    "at any time, up to 10% of nodes, at other times any number of nodes at once",
  );
  expect(words({ budgets }).Drifted).toBe("at any time, any number of nodes at once");
});

it.each([
  ["0 9 * * mon-fri", "8h", 128],
  ["0 9 * * 1-5", "8h0m0s", 128],
  ["@daily", "12h", 84],
  ["0 * * * *", "54m", 16.8],
  // Each hit begins it anew: it never ends.
  ["0 * * * *", "2h", 0],
  // Sunday is 0, and this one goes on into Monday.
  ["0 12 * * 0", "24h", 144],
  ["0 0 1 1 *", "1h", 168],
  // The last time was weeks ago, and it is still active.
  ["0 0 1 11 *", "600h", 96],
  // Karpenter's library reads ? as any, and a step without an end as one up to the last.
  ["0/30 ? * ? *", "6m", 134.4],
  ["0 12 * * sun-sun", "24h", 144],
  ["0 12 * * */8", "24h", 144],
  // A list with a star is a star, so Sunday alone counts.
  ["0 12 *,24 * 0", "24h", 144],
])("closes a budget of 0 at %s in UTC for %s, which leaves %d hours a week", (schedule, duration, left) => {
  const [{ open }] = allowed({ budgets: [{ nodes: "0", schedule, duration }] });
  expect(open.filter(Boolean).length / 60).toBeCloseTo(left);
});

it.each([
  ...["7", "1-7", "fri-mon"].map((days) => [
    `0 9 * * ${days}`,
    "its day of the week must be 0 to 6, in ranges that go forward",
  ]),
  ["0 9 L * *", "its day of the month must be 1 to 31, in ranges that go forward"],
  ["0 9 * 0 *", "its month must be 1 to 12, in ranges that go forward"],
  ["0 24 * * *", "its hour must be 0 to 23, in ranges that go forward"],
  ["*/0 9 * * *", "its minute must be 0 to 59, in ranges that go forward"],
  ["0 0 9 * * *", "it needs five fields"],
])("allows nothing, by no reason, where Karpenter cannot read a schedule: %s", (schedule, why) => {
  expect(whyUnreadable(schedule)).toBe(why);
  const budgets = [{ nodes: "50%" }, { nodes: "10%", schedule, duration: "8h", reasons: ["Empty"] }];
  expect(words({ budgets })).toEqual(everything("never: a budget's schedule cannot be read"));
});

it("counts a minute as closed from the hit on for the duration", () => {
  const [{ open }] = allowed({ budgets: [{ nodes: "0", schedule: "30 9 * * mon", duration: "1h" }] });
  expect(stretchesOf(open.map((is) => !is))).toEqual([{ from: 570, to: 630 }]);
});

it("draws local days, one line for days that are alike, at most 80 columns", () => {
  const [nights] = allowed({ budgets: [{ nodes: "0", schedule: "0 8 * * *", duration: "10h30m" }] });
  const berlin = midnightBefore(monday, "Europe/Berlin");
  expect(berlin.toISOString()).toBe("2026-11-22T23:00:00.000Z");
  expect(drawWeek(nights, monday, "UTC")).toEqual([
    "          0     3     6     9     12    15    18    21",
    `  each day${"█".repeat(16)}${"·".repeat(21)}${"█".repeat(11)}  13.5h`,
  ]);
  const [weekdays] = allowed({ budgets: [{ nodes: "0", schedule: "15 8 * * mon-fri", duration: "1h" }] });
  const lines = drawWeek(weekdays, monday, "UTC");
  expect(lines).toHaveLength(8);
  expect(lines[1]).toBe(`  Mon 23  ${"█".repeat(16)}▒·▒${"█".repeat(29)}  23h`);
  expect(lines[6]).toBe(`  Sat 28  ${"█".repeat(48)}  24h`);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});

it("follows the clock where it changes", () => {
  // On the last Sunday of October 02:30 comes twice.
  const saturday = midnightBefore(new Date("2026-10-24T12:00:00Z"), "Europe/Berlin");
  const [{ open }] = allowed({ budgets: [{ nodes: "0", schedule: "0 8 * * *", duration: "1h" }] }, saturday);
  const lines = drawWeek({ open }, saturday, "Europe/Berlin");
  expect(lines[1]?.slice(10 + 20, 10 + 22)).toBe("··");
  expect(lines[2]?.slice(10 + 18, 10 + 20)).toBe("··");
});

it.each([
  ["Europe/Berlin", "2026-03-29T10:00:00Z", "2026-03-28T23:00:00.000Z"],
  ["Europe/Berlin", "2026-10-25T11:00:00Z", "2026-10-24T22:00:00.000Z"],
  // There the clock goes from midnight to one, and back to 23:00.
  ["Africa/Cairo", "2026-04-24T09:00:00Z", "2026-04-23T22:00:00.000Z"],
  ["Africa/Cairo", "2026-10-29T21:30:00Z", "2026-10-28T21:00:00.000Z"],
  // There the clock goes from one back to midnight.
  ...["04:30", "05:30", "06:30"].map((time) => [
    ...["America/Havana", `2026-11-01T${time}:00Z`, "2026-11-01T04:00:00.000Z"],
  ]),
])("begins the day in %s at %s where it began, though the clock has changed since", (zone, at, begin) => {
  expect(midnightBefore(new Date(at), zone).toISOString()).toBe(begin);
});

it.each([
  ["Europe/Berlin", "2026-10-25", 169],
  ["Europe/Berlin", "2026-03-29", 167],
  ["Europe/Berlin", "2026-11-22", 168],
  ["America/Havana", "2026-11-01", 169],
])("is seven whole days in %s from %s on, where clocks change as elsewhere: %i hours", (zone, day, hours) => {
  const midnight = midnightBefore(new Date(`${day}T12:00:00Z`), zone);
  const open = Array(weekLength(midnight, zone)).fill(true);
  const lines = drawWeek({ open }, midnight, zone);
  expect(open).toHaveLength(hours * 60);
  expect(lines.at(-1)).toMatch(/█ {2}24h$/);
  expect(lines).toHaveLength(hours === 168 ? 2 : 8);
});

it("draws nothing where the clock leaves an hour out", () => {
  const sunday = new Date("2026-03-28T23:00:00Z");
  const [, line] = drawWeek({ open: Array(24 * 60).fill(true) }, sunday, "Europe/Berlin");
  expect(line).toBe(`  Sun 29  ${"█".repeat(4)}  ${"█".repeat(42)}  23h`);
});

it("groups the reasons whose weeks are the same", () => {
  const groups = groupAlike(allowed({ budgets: [{ nodes: "0", reasons: ["Drifted"] }, { nodes: "10%" }] }));
  expect(groups.map((group) => group.map(({ reason }) => reason))).toEqual([
    ["Empty", "Underutilized"],
    ["Drifted"],
  ]);
});

it("shows the wall clock of every time zone", () => {
  expect(wallClock(new Date("2026-07-01T22:15:00Z"), "Asia/Kolkata").toISOString()).toBe(
    "2026-07-02T03:45:00.000Z",
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e12 }), (time) => {
      const moment = new Date(time);
      expect(wallClock(moment, "UTC").getTime()).toBe(Math.floor(time / 60_000) * 60_000);
      expect(midnightBefore(moment, "UTC").getTime()).toBe(Math.floor(time / 86_400_000) * 86_400_000);
    }),
  );
});
