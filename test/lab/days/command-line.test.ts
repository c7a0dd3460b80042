import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { arms } from "../../../lab/days/arms.ts";
import { command } from "../../../lab/days/options.ts";
import { Results } from "../../../lab/days/results.ts";
import { prepare, type Source } from "../../../lab/days/spec.ts";
import { worlds } from "../../../lab/days/worlds.ts";
import { newFolder } from "../../support/new-folder.ts";
import { aRun } from "./a-run.ts";

describe("the command line", () => {
  const parse = (...words: string[]) =>
    command()
      .configureOutput({ writeErr: () => {} })
      .parse(words, { from: "user" })
      .opts();

  it("reads lists, each item once, and takes instance types together as one world", () => {
    const read = parse(
      ...["--arms", "hold-20m, budget-hourly,hold-20m", "--trace", "day,bursts, day"],
      ...["--seed", "2,1,2", "--karpenter", "1.15,1.15.0", "--types", "one,four,one"],
    );
    expect(read).toMatchObject({
      ...{ arms: ["hold-20m", "budget-hourly"], types: ["one", "four"], seed: [2, 1], karpenter: ["1.15.0"] },
      trace: ["day", "bursts"].map((name) => ({ kind: "name", name })),
    });
    expect(parse("--types", "m.large,c.xlarge").types).toEqual(["m.large+c.xlarge"]);
    expect(parse("--from", "1d", "--lasts", "90").from).toBe(86_400);
  });

  it.each([
    [["--arms", "budget-hourli"], "did you mean budget-hourly?"],
    [["--trace", "dai"], "did you mean day?"],
    [["--trace", "no/such.json"], "There is no file no/such.json."],
    [["--types", "familys"], "did you mean families?"],
    [["--types", "one,m.large"], "not both"],
    [["--karpenter", "1.99"], 'There is no version "1.99"'],
    [["--seed", "0"], "whole numbers above 0"],
    [["--seed", "1e30"], "whole numbers above 0"],
    [["--parallel", "1,2"], "It must be a whole number above 0."],
    [["--lasts", "soon"], "It must be seconds"],
    [["--pods", "no/such.csv"], "There is no file no/such.csv."],
    [["--pods", "test"], "There is no file test."],
    [["--arms", "auto,hold-30h"], "hold-30h cannot be played: hold must be"],
    [["--arms", "consolidate-after-1d"], "consolidateAfter must be like 90s, 20m or 24h"],
    [["--arms", "budget-closed-at-9-for-1d"], "a budget's duration must be like 30m, 13h or 1h30m"],
    [["--arms", "budget-closed-at-9-for-90s"], "a budget's duration must be like 30m, 13h or 1h30m"],
  ])("refuses %j", (words, message) => {
    expect(() => parse(...words)).toThrow(message);
  });

  it("lists every arm, trace and world in its help", () => {
    const help: string[] = [];
    command()
      .configureOutput({ writeOut: (text) => help.push(text) })
      .outputHelp();
    const text = help.join("");
    for (const name of [...arms.map((arm) => arm.name), ...worlds.keys(), "--fresh", "m.2xlarge"])
      expect(text).toContain(name);
  });
});

describe("a whole call", () => {
  const run = async (...words: readonly string[]) => {
    const script = join(import.meta.dirname, "../../../lab/days/run.ts");
    try {
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, ...words]);
      return { code: 0, stdout, stderr };
    } catch (error) {
      return error as { code: number; stdout: string; stderr: string };
    }
  };
  const write = (text: string, name: string) => {
    const file = join(newFolder(), name);
    writeFileSync(file, text);
    return file;
  };

  it("shows stored results of each trace by itself, under the names that were asked for", async () => {
    const [a, b] = [write('{"lasts":60}', "trace.json"), write('{"lasts":61}', "trace.json")];
    const copy = write('{"lasts":60}', "copy.json");
    const results = write("", "results.jsonl");
    for (const [file, launched] of [
      [a, 11],
      [b, 22],
    ] as const) {
      const source: Source = { kind: "file", name: file, file };
      const spec = { source, arm: "auto", karpenter: "1.15.0", types: "one", seed: 1 };
      const { key } = await prepare(spec);
      new Results(results).add(aRun({ ...spec, trace: source.name, key, launched }));
    }
    const { stdout, code } = await run(
      ...["--trace", [a, b, copy, a].join(), "--seed", "1,1", "--types", "m.2xlarge"],
      ...["--arms", "auto", "--results", results, "--json"],
    );
    expect(code).toBe(0);
    const shown = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(shown.map(({ trace, launched, types }) => [trace, launched, types])).toEqual([
      [a, 11, "m.2xlarge"],
      [b, 22, "m.2xlarge"],
      [copy, 11, "m.2xlarge"],
    ]);
  });

  it.each([
    ["--trace shrink --arms balanced --karpenter 1.13", "no chosen Karpenter is new enough for the arms"],
    ["--into build", "--into needs --page"],
    ["--page --arms auto", "--page of a part of the comparison needs --into"],
  ])("refuses %s", async (flags, problem) => {
    expect(await run(...flags.split(" "))).toMatchObject({
      code: 2,
      stderr: `These flags cannot be used: ${problem}\n`,
    });
  });

  it("refuses a part that begins after the end of a list of pods", async () => {
    const file = write("scheduled_s,deleted_s,cpu_milli\n0,600,1000\n", "pods.csv");
    expect(await run("--pods", file, "--from", "10000")).toMatchObject({
      code: 2,
      stderr: `${file}: its pods ran from second 0 to 600: --from must be before the end\n`,
    });
  });
});
