import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Progress } from "../../cli/terminal/progress.ts";
import { processTerminal } from "../../cli/terminal/terminal.ts";
import { type Mistake, mistakes } from "./planted.ts";

const root = join(import.meta.dirname, "../..");
const most = 5_000;
const kinds = ["any", "good-day"] as const;

/** The rule that notices the mistake in a copy of the sources; undefined where none does. */
async function noticedIn(copy: string, { file, text, instead }: Mistake): Promise<string | undefined> {
  const path = join(copy, file);
  const source = await readFile(path, "utf8");
  await writeFile(
    path,
    source.replace(text, () => instead),
  );
  try {
    for (const kind of kinds) {
      const args = ["test/model/torture.ts", "--runs", String(most), "--seed", "1", "--kind", kind];
      const output = await new Promise<string>((resolve) => {
        execFile(process.execPath, args, { cwd: copy, maxBuffer: 2 ** 26 }, (_, stdout) => resolve(stdout));
      });
      const [, runs, rule] =
        /^broken after at most (\d+) runs:\n(?:\w*Error: )?(.{1,70})/m.exec(output) ?? [];
      if (runs) return `${kind}, at most ${runs} runs: ${rule?.replace(/ [[{].*/, "")}`;
    }
    return undefined;
  } finally {
    await writeFile(path, source);
  }
}

const words = process.argv.slice(2);
if (words.includes("--help")) {
  console.log("usage: npm run planted -- [WORD…]   # only mistakes with one of these words");
  process.exit();
}
const chosen = mistakes.filter(({ what }) => words.length === 0 || words.some((word) => what.includes(word)));
const copy = await mkdtemp(join(tmpdir(), "planted-"));
const progress = new Progress(chosen.length, processTerminal());
let missed = 0;
try {
  for (const folder of [
    "lambda",
    "simulator",
    "test/model",
    "test/support",
    "cli",
    "local",
    "report",
    "package.json",
  ])
    await cp(join(root, folder), join(copy, folder), { recursive: true });
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  for (const mistake of chosen) {
    const task = progress.begin(mistake.what);
    const noticed = await noticedIn(copy, mistake);
    task.end();
    if (noticed === undefined) missed++;
    console.log(`${noticed === undefined ? "✗" : "✓"} ${mistake.what}: ${noticed ?? "not noticed"}`);
  }
} finally {
  progress.stop();
  await rm(copy, { recursive: true, force: true });
}
console.log(`${chosen.length - missed} of ${chosen.length} mistakes noticed within ${most} runs`);
process.exitCode = missed === 0 ? 0 : 1;
