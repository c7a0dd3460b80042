import { describe, expect, it } from "vitest";
import { readWindow } from "../../infra/settings/windows.ts";
import { hours, minutes } from "../../lambda/core/duration.ts";
import { parseMessage } from "../../lambda/handlers/events.ts";
import { Windows } from "../../local/run/windows.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { VirtualClock } from "../../simulator/virtual-clock.ts";

/** Windows on a clock that begins on a Tuesday at this time, and what is sent. */
function windowsFrom(time: string, ...texts: string[]) {
  const clock = new VirtualClock(new Date(`2026-11-24T${time}Z`));
  const log = new CollectedLog();
  const sent: { at: string; message: unknown }[] = [];
  const send = (message: unknown) => void sent.push({ at: clock.now().toISOString(), message });
  const windows = new Windows({ windows: texts.map(readWindow), clock, send, log });
  windows.start();
  const pass = (duration: number) => clock.runUntil(new Date(clock.now().getTime() + duration));
  /** When something was sent, and the beginning that it names. */
  const begun = () => sent.map(({ at, message }) => [at.slice(5, 16), Object(message).hold.at.slice(5, 16)]);
  return { clock, log, sent, windows, pass, begun };
}
const morning = "cron(0 8 ? * MON-FRI *) Europe/Berlin 2h";

describe("the windows of run", () => {
  it("send what Scheduler sends to a deployed holder, each time that one begins", async () => {
    const { sent, pass, begun } = windowsFrom("00:00", morning);
    await pass(hours(48));
    expect(begun()).toEqual([
      ["11-24T07:00", "11-24T07:00"],
      ["11-25T07:00", "11-25T07:00"],
    ]);
    expect(parseMessage(JSON.stringify(sent[0]?.message))).toEqual({
      kind: "hold",
      cause: "window",
      name: "cron(0 8 ? * MON-FRI *) Europe/Berlin",
      for: hours(2),
      scope: "cluster",
      reason: "window cron(0 8 ? * MON-FRI *) Europe/Berlin (2026-11-24T07:00:00.000Z)",
      at: new Date("2026-11-24T07:00:00Z"),
    });
  });

  it("continue one that has begun, by the time when it began, and none that is over", () => {
    expect(windowsFrom("08:59", morning).begun()).toEqual([["11-24T08:59", "11-24T07:00"]]);
    expect(windowsFrom("09:00", morning).begun()).toEqual([]);
  });

  it("hold where each says, one beside the other", async () => {
    const { sent, pass } = windowsFrom(
      "00:00",
      "rate(12 hours) 1h nodepool/web",
      "at(2026-11-24T12:00:00) 7d nodepool/batch",
    );
    await pass(hours(13));
    expect(sent.map(({ at, message }) => [at.slice(11, 16), Object(message).hold.scope])).toEqual([
      ["00:00", "nodepool/web"],
      ["12:00", "nodepool/web"],
      ["12:00", "nodepool/batch"],
    ]);
  });

  it("begin late after the machine slept, as long as one is on", async () => {
    const { clock, sent, pass, begun } = windowsFrom("00:00", morning);
    clock.set(new Date("2026-11-25T08:30:00Z"));
    await pass(minutes(1));
    expect(begun()).toEqual([["11-25T08:30", "11-25T07:00"]]);
    clock.set(new Date("2026-11-26T12:00:00Z"));
    await pass(minutes(1));
    expect(sent).toHaveLength(1);
  });

  it("send nothing more once they are stopped, and are logged with when they begin next", async () => {
    const { log, sent, windows, pass } = windowsFrom("00:00", morning);
    windows.stop();
    await pass(hours(48));
    expect(sent).toEqual([]);
    const next = new Date("2026-11-24T07:00:00Z");
    const window = "cron(0 8 ? * MON-FRI *) Europe/Berlin";
    expect(log.reported("a window is set")).toEqual([{ window, for: "2h", scope: undefined, next }]);
  });
});
