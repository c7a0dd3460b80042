import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { elementsIn } from "../../report/markup.ts";
import { engineFolder } from "../runner/run-folder.ts";
import { Shell } from "../runner/shell.ts";

const root = resolve(import.meta.dirname, "../../..");

// Only commands that no other suite runs.
describe("npm scripts for developers", () => {
  const into = engineFolder("commands");
  const shell = new Shell(into, { INTO: into });
  const written = (file: string) => readFileSync(join(into, file), "utf8");
  const documented = (file: string) => readFileSync(join(root, "docs", file), "utf8");

  afterAll(() => shell.stop());

  it("lab plays a trace with the holder and without it, and writes its page from what is stored", async () => {
    const runs =
      '--trace vary --types four --arms consolidate-after-30s,hold-100s --results "$INTO/lab.jsonl"';
    const lines = await shell.run(`npm run --silent lab -- ${runs} --json`);
    const results = lines
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(results.map(({ arm }) => arm).toSorted()).toEqual(["consolidate-after-30s", "hold-100s"]);
    for (const { arm, launched, nodeMinutes, jobsRun, marks, holder } of results) {
      expect([launched > 0, nodeMinutes > 5, jobsRun]).toEqual([true, true, 17]);
      expect([marks > 0, holder?.errors]).toEqual(arm === "hold-100s" ? [true, []] : [false, undefined]);
    }
    await shell.run(`npm run lab -- ${runs} --page --into "$INTO"`);
    expect(written("lab.md")).toContain("`hold-100s` costs");
    expect(elementsIn(written("images/lab-costs.svg"))[0]?.name).toBe("svg");
  });

  it("torture plays thousands of runs", async () => {
    const output = await shell.run("npm run torture -- --runs 2500 --seed 20261122");
    expect(output).toContain("2500 runs played, every rule held");
  });

  it("torture repeats one run by its seed and path", async () => {
    const output = await shell.run("npm run torture -- --seed 42 --path 12:0:3");
    expect(output).toContain("the run passes now");
  });

  it("emulator starts AWS with a cluster for commands by hand, and ends all on Ctrl-C", async () => {
    const emulator = shell.open("npm run emulator");
    const environment = await emulator.prints(/^ {2}\. (\S+)$/m);
    expect(await shell.run(`. ${environment} && kubectl get nodes`)).toMatch(/^node-3 +Ready /m);
    const status = await shell.try(`. ${environment} && npx karpenter-node-holder status --cluster prod`);
    expect(status.errors).toContain("there is no holder for cluster prod");
    await emulator.interrupt();
    expect(emulator.output.trim().split("\n").at(-1)).toContain("everything deployed are gone");
    expect((await shell.try(`. ${environment} && kubectl get nodes`)).errors).toContain("refused");
  });

  it("bench measures everything that docs/proven.md shows", async () => {
    await shell.run('npm run bench -- --quick --write --into "$INTO"');
    const page = written("proven.md");
    expect(page).toContain("**No measurement**");
    expect(outlineOf(page)).toEqual(outlineOf(documented("proven.md")));
    expect(page).not.toMatch(/NaN|undefined|Infinity|null ms/);
  });
});

/** A page's headings, pictures and the first cell of each row, without its figures. */
const outlineOf = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/^(?:#+ .*|!\[.*|\| [^|]*)/gm)].map(([line]) =>
    line
      .trim()
      .replaceAll(/-{3,}/g, "---")
      .replaceAll(/\d[\d,]*/g, "N"),
  );
