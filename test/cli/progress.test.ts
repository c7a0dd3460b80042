import { describe, expect, it } from "vitest";
import { Progress } from "../../cli/terminal/progress.ts";

function started({ isTerminal, total = 4 }: { isTerminal: boolean; total?: number }) {
  const notified: string[] = [];
  const rewritten: string[] = [];
  const rewrite = (line: string) => void rewritten.push(line);
  let now = 0;
  const terminal = { notify: (line: string) => void notified.push(line), ...(isTerminal && { rewrite }) };
  const progress = new Progress(total, terminal, () => now);
  return { progress, notified, rewritten, pass: (seconds: number) => (now += seconds * 1_000) };
}

describe("progress of long work", () => {
  it("estimates the time left from the share that is done, also of tasks side by side", () => {
    const { progress, rewritten, pass } = started({ isTerminal: true });
    const [long, short] = [progress.begin("long", 3), progress.begin("short")];
    pass(10);
    short.end();
    long.advance(1 / 3, "step 1");
    expect(rewritten.at(-1)).toBe("50 % done, about 10s left; long: step 1");
    progress.stop();
  });

  it("estimates nothing before something is done", () => {
    const { progress, rewritten, pass } = started({ isTerminal: true });
    pass(10);
    progress.begin("long", 4);
    expect(rewritten).toEqual(["0 % done; long"]);
    progress.stop();
  });

  it("estimates a task that reports no progress by its usual time, and never as done", () => {
    const { progress, rewritten, pass } = started({ isTerminal: true, total: 20_000 });
    const suite = progress.beginTimed("suite", 20_000);
    pass(5);
    progress.begin("another", 0);
    expect(rewritten.at(-1)).toBe("25 % done, about 15s left; suite, another");
    pass(500);
    progress.begin("a third", 0);
    expect(rewritten.at(-1)).toMatch(/^95 % done/);
    suite.end();
    progress.stop();
  });

  it("writes a log a line every half minute, and every line that a task ends with", () => {
    const { progress, notified, pass } = started({ isTerminal: false });
    const task = progress.begin("long", 4);
    for (let second = 0; second < 60; second++) {
      pass(1);
      task.advance(second / 60);
    }
    expect(notified).toHaveLength(2);
    task.end("long took 60 s");
    expect(notified.at(-1)).toBe("long took 60 s");
    progress.stop();
  });

  it("removes the moving line before it prints one that stays, and when it stops", () => {
    const { progress, notified, rewritten } = started({ isTerminal: true });
    progress.begin("long").end("ended");
    expect(rewritten).toEqual([""]);
    expect(notified).toEqual(["ended"]);
    progress.stop();
    expect(rewritten).toEqual(["", ""]);
  });
});
