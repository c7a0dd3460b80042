import { describe, expect, it, onTestFinished, vi } from "vitest";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { WallClock } from "../../local/holder/clock.ts";

describe("the wall clock", () => {
  const clock = new WallClock(systemClock);

  it("never wakes before the moment, and at once for one that is past", async () => {
    const moment = after(clock.now(), 30);
    const woken = await new Promise<Date>((resolve) => clock.at(moment, async () => resolve(clock.now())));
    expect(woken.getTime()).toBeGreaterThanOrEqual(moment.getTime());
    await new Promise<void>((resolve) => clock.at(after(clock.now(), -minutes(1)), async () => resolve()));
  });

  it.each([
    ["is set back", -hours(24), 5],
    ["has gone on while the machine slept", minutes(5), 0],
  ])("wakes within a minute of the moment where the system's clock %s", async (_, jump, passes) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const action = vi.fn(async () => {});
    clock.at(after(clock.now(), minutes(5)), action);
    await vi.advanceTimersByTimeAsync(1);
    vi.setSystemTime(after(clock.now(), jump));
    await vi.advanceTimersByTimeAsync(minutes(passes));
    expect(action).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(minutes(1));
    expect(action).toHaveBeenCalledOnce();
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
