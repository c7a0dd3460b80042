import { beforeAll, describe, expect, it } from "vitest";
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
    expect(checks.length).toBeGreaterThanOrEqual(9);
    expect(terminal.output).toContain(`All ${checks.length} promises kept.`);
  });

  it("prints events in order, and nodes together to which the same happens at once", () => {
    const reported = terminal.output.split("\n").filter((line) => / (held|free|until \d+:\d\d)/.test(line));
    expect(reported.slice(0, 6).map((line) => line.trim().replaceAll(/ +/g, " "))).toEqual([
      "0:30 ◆ cleo held by the user's own annotation",
      "1:01 ┏ hold until 21:00: a node was launched in NodePool default",
      "1:01 ■ anna, bert held",
      "1:45 ■ dora, emil, frida held",
      "21:00 □ anna, bert, dora, emil, frida free",
      "27:01 ┏ hold until 47:00: a node was launched in NodePool default",
    ]);
  });

  it("shows what the hold is for: nodes that a second burst finds, and that are launched again without it", () => {
    expect(terminal.output).toContain("3 jobs start on dora, emil, frida: nothing is launched");
    expect(terminal.output).toContain("4 launches; the same work without the holder: 7");
  });

  it("prints no line twice, and takes its reader no longer than a quarter of a minute", () => {
    const lines = terminal.output.split("\n").filter((line) => /^ +\d+:\d\d {2}/.test(line));
    expect(lines.length).toBeGreaterThan(20);
    expect(new Set(lines).size).toBe(lines.length);
    // Leaves three seconds for the start of a slow machine.
    expect(plot.end * (shownFor(1_000) / 1_000)).toBeLessThan(12_000);
  });

  it("has no colours without a terminal", () => {
    expect(terminal.output).not.toContain("\u001b");
  });
});
