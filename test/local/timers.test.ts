import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import type { Expired } from "../../local/holder/timers.ts";
import { Timers } from "../../local/holder/timers.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";

function prepare() {
  const clock = new VirtualClock(noon);
  const fired: (Expired & { at: Date })[] = [];
  const timers = new Timers(clock, async (expired) => void fired.push({ ...expired, at: clock.now() }));
  return { clock, fired, timers };
}

describe("one-shots within one process", () => {
  it("fire once, at their time", async () => {
    const { clock, fired, timers } = prepare();
    const at = after(noon, minutes(20));
    expect(await timers.arm("cluster", "hold-1", at)).toBe("armed");
    await clock.runUntil(after(at, -1));
    expect(fired).toEqual([]);
    await clock.runUntil(after(at, minutes(60)));
    expect(fired).toEqual([{ scope: "cluster", holdId: "hold-1", at }]);
  });

  it("fire as late as they are", async () => {
    const { clock, fired } = prepare();
    const fire = async (expired: Expired) => void fired.push({ ...expired, at: clock.now() });
    await new Timers(clock, fire, () => seconds(40)).arm("cluster", "hold-1", after(noon, minutes(20)));
    await clock.runUntil(after(noon, minutes(60)));
    expect(fired.map(({ at }) => at)).toEqual([after(noon, minutes(20) + seconds(40))]);
  });

  it("are the same for the same hold and time", async () => {
    const { clock, fired, timers } = prepare();
    const at = after(noon, minutes(20));
    await timers.arm("cluster", "hold-1", at);
    expect(await timers.arm("cluster", "hold-1", at)).toBe("already armed");
    expect(await timers.arm("nodepool/web", "hold-2", at)).toBe("armed");
    await clock.runUntil(at);
    expect(fired.map(({ holdId }) => holdId)).toEqual(["hold-1", "hold-2"]);
  });

  it("can be created again after they fired, also for a past time", async () => {
    const { clock, fired, timers } = prepare();
    await timers.arm("cluster", "hold-1", after(noon, -minutes(5)));
    await clock.runUntil(noon);
    expect(await timers.arm("cluster", "hold-1", after(noon, -minutes(5)))).toBe("armed");
    await clock.runUntil(noon);
    expect(fired).toHaveLength(2);
  });

  it("never fire after they are closed, also those created afterwards", async () => {
    const { clock, fired, timers } = prepare();
    await timers.arm("cluster", "hold-1", after(noon, minutes(1)));
    timers.close();
    await timers.arm("cluster", "hold-2", after(noon, minutes(1)));
    await clock.runUntil(after(noon, minutes(2)));
    expect(fired).toEqual([]);
  });
});
