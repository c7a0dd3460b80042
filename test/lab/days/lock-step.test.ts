import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EngineProcess } from "../../../lab/days/engine-process.ts";
import { runHolder, schedulerLateness } from "../../../lab/days/holder/holder.ts";
import { LockStep, type Player } from "../../../lab/days/holder/lock-step.ts";
import { isStatus } from "../../../lambda/kubernetes/error.ts";

const start = (part: string, silence?: number) =>
  new EngineProcess(
    { program: process.execPath, args: [join(import.meta.dirname, "fake-engine.ts"), part] },
    silence,
  );

/** Plays turns in which nothing happens, and wants the next one after a minute. */
function idle(play: Player["play"] = async () => {}): Player {
  let last = 0;
  return {
    play: async (turn) => {
      last = turn.now.getTime();
      await play(turn);
    },
    next: () => new Date(last + 60_000),
  };
}

const run = (part: string, player = idle(), silence?: number) =>
  new LockStep(start(part, silence)).run(player, () => {});

it("one-shots of the lab are late by any time within a minute, half of one on average", () => {
  const lateness = schedulerLateness();
  const late = Array.from({ length: 1_000 }, lateness);
  expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...late)).toBeLessThan(60_000);
  expect(late.reduce((a, b) => a + b) / 1_000).toBeCloseTo(30_000, -3);
});

describe("the holder in lock-step", () => {
  it("marks all nodes at once after a launch, also the one that joins later, and releases them when the hold has ended", async () => {
    const progress: unknown[] = [];
    const { result, holder } = await runHolder(start("hold"), { hold: "20m" }, (line) => progress.push(line));
    expect(result).toEqual({ atOnce: true, joined: true, during: [true, true], afterwards: [false, false] });
    expect(holder).toMatchObject({ holds: 1, errors: [] });
    expect(holder.turns).toBeGreaterThan(4);
    expect(progress).toEqual([{ at: 1, of: 2 }]);
  });

  it("plays without a holder until the result", async () => {
    expect(await run("alone")).toEqual({ launched: 3 });
  });
});

describe("a call", () => {
  const answersOf = async (paths: readonly string[]) => {
    const answers: unknown[] = [];
    const lockStep = new LockStep(start("refuses"));
    const play = async () => {
      for (const path of paths) {
        const call = { method: "PATCH", path: `/api/v1/nodes/${path}`, body: [] } as const;
        answers.push(await lockStep.call(call).catch((error: unknown) => error));
      }
    };
    await lockStep.run(idle(play), () => {});
    return answers;
  };

  it("is repeated after a conflict, as the client does", async () => {
    expect(await answersOf(["conflict"])).toEqual([{ calls: 4 }]);
  });

  it("fails with the client's errors", async () => {
    const [gone, denied, broken] = await answersOf(["gone", "denied", "broken"]);
    expect(isStatus(gone, 404)).toBe(true);
    expect(isStatus(denied, 403)).toBe(true);
    expect(String(denied)).toContain("ClusterRole");
    expect(String(broken)).toContain("failed 8 times");
  });
});

describe("the run fails with the reason when the engine", () => {
  it.each([
    [
      "lost turn",
      "a turn was lost: the next was to begin at 2026-11-23T00:01:00.000Z, not at 2026-11-23T00:01:00.001Z",
    ],
    ["time goes back", "time went back"],
    ["no meaning", 'the engine printed a line without meaning: {"something":"else"}'],
    ["no JSON", "the engine printed a line that is no JSON object: panic: it went wrong"],
    ["fails", "the engine ended with exit code 2; it printed:\nthe configuration is wrong"],
    ["crashes", "it printed:\nfatal error: the reason\ngoroutine 0\n"],
    ["crashes", "\ngoroutine 999"],
    ["ends early", "the engine ended before its result"],
  ])("%s", async (part, message) => {
    await expect(run(part)).rejects.toThrow(message);
  });

  it.each([
    ["two turns", "a turn began before the last one was done"],
    ["ends in a turn", "the engine ended while it was our turn"],
  ])("does not wait for the end of a turn: %s", async (part, message) => {
    await expect(
      run(
        part,
        idle(() => new Promise(() => {})),
      ),
    ).rejects.toThrow(message);
  });

  it("is silent for too long", async () => {
    await expect(run("silent", idle(), 700)).rejects.toThrow(
      "the engine printed nothing for 0s: a turn was lost",
    );
  });

  it("cannot be started", async () => {
    const engine = new EngineProcess({ program: "/no/such/engine", args: [] });
    await expect(new LockStep(engine).run(idle(), () => {})).rejects.toThrow("ENOENT");
  });
});

it("an error of the holder ends the run and the engine", async () => {
  const player = idle(() => Promise.reject(new Error("the holder failed")));
  await expect(run("silent", player)).rejects.toThrow("the holder failed");
});
