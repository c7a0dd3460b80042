import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { WallClock } from "../../local/holder/clock.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";

describe("the virtual clock", () => {
  it("does actions in the order of their moments, each at its own", async () => {
    const clock = new VirtualClock(noon);
    const done: string[] = [];
    const note = (name: string) => async () =>
      void done.push(`${name} ${clock.now().toISOString().slice(14, 19)}`);
    clock.at(after(noon, minutes(2)), note("later"));
    clock.at(after(noon, minutes(1)), note("first"));
    clock.at(after(noon, minutes(1)), note("second"));
    await clock.runUntil(after(noon, minutes(3)));
    expect(done).toEqual(["first 01:00", "second 01:00", "later 02:00"]);
    expect(clock.now()).toEqual(after(noon, minutes(3)));
  });

  it("stands still while an action runs, and runs what the action plans", async () => {
    const clock = new VirtualClock(noon);
    const done: Date[] = [];
    clock.at(after(noon, minutes(1)), async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      clock.at(after(clock.now(), seconds(1)), async () => void done.push(clock.now()));
    });
    await clock.runUntil(after(noon, minutes(2)));
    expect(done).toEqual([after(noon, minutes(1) + seconds(1))]);
  });

  it("never goes back for a late action, and does not run actions after the end", async () => {
    const clock = new VirtualClock(noon);
    const done: string[] = [];
    clock.at(after(noon, -minutes(1)), async () => void done.push("late"));
    clock.at(after(noon, minutes(9)), async () => void done.push("beyond"));
    await clock.runUntil(after(noon, minutes(1)));
    expect(done).toEqual(["late"]);
    expect(clock.now()).toEqual(after(noon, minutes(1)));
  });
});

describe("the wall clock", () => {
  const clock = new WallClock(systemClock);

  it("never wakes before the moment, and at once for one that is past", async () => {
    const moment = after(clock.now(), 30);
    const woken = await new Promise<Date>((resolve) => clock.at(moment, async () => resolve(clock.now())));
    expect(woken.getTime()).toBeGreaterThanOrEqual(moment.getTime());
    await new Promise<void>((resolve) => clock.at(after(clock.now(), -minutes(1)), async () => resolve()));
  });

  it("does not run a cancelled action", async () => {
    const done: string[] = [];
    const moment = after(clock.now(), 10);
    const cancel = clock.at(moment, async () => void done.push("cancelled"));
    cancel();
    await new Promise<void>((resolve) => clock.at(after(moment, 10), async () => resolve()));
    expect(done).toEqual([]);
  });
});
