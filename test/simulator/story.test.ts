import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { runStory, shownFor } from "../../simulator/story/story.ts";
import { type Check, plot } from "../../simulator/story/verdict.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";

describe("the story of a hold", () => {
  const terminal = new CollectedTerminal();
  let checks: readonly Check[];

  beforeAll(async () => {
    checks = await runStory(terminal, async () => {});
  });

  it("ends with every promise kept", () => {
    expect(checks.filter(({ isKept }) => !isKept)).toEqual([]);
    expect(checks.length).toBeGreaterThanOrEqual(11);
    expect(terminal.output).toContain(`All ${checks.length} promises kept.`);
  });

  it("prints events in order, and nodes together to which the same happens at once", () => {
    const reported = terminal.output.split("\n").filter((line) => / (held|free|until \d+:\d\d)/.test(line));
    expect(reported.slice(0, 7).map((line) => line.trim().replaceAll(/ +/g, " "))).toEqual([
      "0:30 ◆ cleo held by the user's own annotation",
      "1:01 ┏ hold until 26:00: a node was launched in NodePool default",
      "1:01 ■ anna, bert held",
      "1:45 ■ dora, emil, frida held",
      "7:34 □ dora, emil, frida free",
      "8:11 ┣ hold extended until 33:10",
      "8:55 ■ greta, hugo, ida held",
    ]);
  });

  it("shows what the hold is for: nodes and pods that stay because they are needed again, and what happens without it", () => {
    for (const line of [
      "4 jobs start on greta, hugo, ida: a node is missing",
      "8 launches; the same work without the holder: 12",
      "web grows from 2 to 3 pods on bert: nothing is launched",
      "2 pods evicted; the same work without the holder: 3",
    ])
      expect(terminal.output).toContain(line);
  });

  it("says why a node is let go, once", () => {
    expect(terminal.output.match(/bert no longer pays: .*/g)).toEqual([
      expect.stringMatching(
        /: superfluous for 6m\w*; its removal is worth 6m: 2 pods; a relaunch is not waited for/,
      ),
    ]);
    expect(terminal.output).toContain("dora, emil, frida no longer pay: superfluous for 0s");
  });

  it("prints no line twice, and takes its reader no longer than a quarter of a minute", () => {
    const lines = terminal.output.split("\n").filter((line) => /^ +\d+:\d\d {2}/.test(line));
    expect(lines.length).toBeGreaterThan(20);
    expect(new Set(lines).size).toBe(lines.length);
    // Leaves three seconds for the start of a slow machine.
    expect(plot.end * (shownFor(1_000) / 1_000)).toBeLessThan(12_000);
  });

  it("ends so at any time of day", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    // It lasts for more than an hour.
    for (let hour = 0; hour < 24; hour++) {
      vi.setSystemTime(`2026-11-29T${String(hour).padStart(2, "0")}:00:00Z`);
      const all = await runStory(new CollectedTerminal(), async () => {});
      expect(all.filter(({ isKept }) => !isKept)).toEqual([]);
    }
  });

  it("has no colours without a terminal", () => {
    expect(terminal.output).not.toContain("\u001b");
  });
});
