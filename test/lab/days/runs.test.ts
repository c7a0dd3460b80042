import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Progress } from "../../../cli/terminal/progress.ts";
import { playAll } from "../../../lab/days/play-all.ts";
import { parseRunResult, type RunResult } from "../../../lab/days/result.ts";
import { Results } from "../../../lab/days/results.ts";
import { prepare, type Spec } from "../../../lab/days/spec.ts";
import { isAlive } from "../../real/engines/process-table.ts";
import { until } from "../../real/engines/processes.ts";
import { CollectedTerminal } from "../../support/collected-terminal.ts";
import { newFolder } from "../../support/new-folder.ts";
import { aRun } from "./a-run.ts";

const specOf = (arm: string): Spec => ({
  ...{ source: { kind: "name", name: "cron" }, arm, karpenter: "1.15.0", types: "one", seed: 1 },
});

describe("many runs", () => {
  const terminal = new CollectedTerminal();
  const progress = new Progress(10, terminal);
  afterEach(() => progress.stop());

  async function play(arms: readonly string[], stopping = new AbortController()) {
    const results: RunResult[] = [];
    const runs = await Promise.all(arms.map((arm) => prepare(specOf(arm))));
    const failures = await playAll(runs, {
      ...{ parallel: 2, progress, stopped: stopping.signal },
      onResult: (result) => results.push(result),
      script: join(import.meta.dirname, "fake-run.ts"),
    });
    return { failures, arms: results.map(({ arm }) => arm).toSorted() };
  }

  it("are played each in a process of its own; one that fails stops no other", async () => {
    const played = await play([
      "consolidate-after-0s",
      "consolidate-after-1m",
      "consolidate-after-5m",
      "hold-20m",
    ]);
    expect(played.arms).toEqual(["consolidate-after-0s", "hold-20m"]);
    expect(played.failures.map(({ error }) => error).toSorted()).toEqual([
      "the engine went wrong",
      "the process of the run ended with exit code 3 without a result",
    ]);
    expect(terminal.reported).toContain("seed 1, consolidate-after-1m failed: the engine went wrong");
  });

  it("fail with the first errors that the holder logged, and have no result then", async () => {
    const played = await play(["auto", "hold-20m"]);
    expect(played.arms).toEqual(["hold-20m"]);
    expect(played.failures.map(({ error }) => error)).toEqual([
      "the holder logged errors: first; second; third; and 1 more",
    ]);
    expect(terminal.reported).toContain("auto failed: the holder logged errors: first;");
  });

  it("end when they are stopped, and leave no process behind", async () => {
    const log = join(newFolder(), "pids");
    process.env.FAKE_RUN_LOG = log;
    const stopping = new AbortController();
    const playing = play(["consolidate-after-20m", "consolidate-after-20m", "hold-20m"], stopping);
    const pids = () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").map(Number) : []);
    await until("two processes", async () => pids().length === 2, 10_000, 20);
    stopping.abort();
    expect(await playing).toEqual({ failures: [], arms: [] });
    expect(pids().filter(isAlive)).toEqual([]);
    delete process.env.FAKE_RUN_LOG;
  });
});

describe("stored results", () => {
  const runOf = (key: string, spec = specOf("auto")) => ({ key, spec });

  it("are found by their key in the next process, the newest of a key", () => {
    const file = join(newFolder(), "deep", "results.jsonl");
    const results = new Results(file);
    expect(results.find(runOf("a"))).toBeUndefined();
    results.add(aRun({ key: "a", launched: 1 }));
    results.add(aRun({ key: "a", launched: 2 }));
    results.add(aRun({ key: "b", launched: 3 }));
    const again = new Results(file);
    expect(["a", "b"].map((key) => again.find(runOf(key))?.launched)).toEqual([2, 3]);
    expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(3);
  });

  it("have the names of the run that asks, because other names may have the same key", () => {
    const results = new Results(join(newFolder(), "results.jsonl"));
    results.add(aRun({ key: "a", trace: "day.json", types: "one", arm: "hold-20m" }));
    const source = { kind: "file", name: "copy.json", file: "copy.json" } as const;
    const spec = { ...specOf("hold-20m-beside-0s"), source, types: "m.2xlarge" };
    expect(results.find(runOf("a", spec))).toMatchObject({
      ...{ trace: "copy.json", types: "m.2xlarge", arm: "hold-20m-beside-0s" },
    });
  });

  it("are played again where the holder had logged errors", () => {
    const file = join(newFolder(), "results.jsonl");
    const holder = { holds: 1, turns: 1, calls: 1, errors: ["it failed"] };
    new Results(file).add(aRun({ key: "a", holder }));
    expect(new Results(file).find(runOf("a"))).toBeUndefined();
  });

  it("survive lines that were cut off or that another version wrote", () => {
    const file = join(newFolder(), "results.jsonl");
    writeFileSync(file, `{"arm":"old"}\n${JSON.stringify(aRun({ key: "a", launched: 5 }))}\n{"arm":"hold-2`);
    new Results(file).add(aRun({ key: "b", launched: 6 }));
    const again = new Results(file);
    expect(["a", "b"].map((key) => again.find(runOf(key))?.launched)).toEqual([5, 6]);
    expect(parseRunResult("")).toBeUndefined();
  });
});
