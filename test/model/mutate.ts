import { spawn } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Mutation, mutations } from "./mutations.ts";

// Plants each known bug into a copy of the project, one at a time, and shows who finds it.

const project = resolve(import.meta.dirname, "../..");
const stories = 6_000;
const copied = ["lambda", "local", "test", "package.json", "tsconfig.json"];
const ruleTests = ["test/core", "test/scenarios", "test/handlers", "test/contracts/nodes.test.ts"];

// The project's own set-up bundles the functions, which these tests do not need.
const config = 'export default { test: { include: ["test/**/*.test.ts"], testTimeout: 30_000 } };';

type Found = Readonly<{ by: string | undefined }>;

const copy = await mkdtemp(join(tmpdir(), "karpenter-node-holder-mutations-"));
try {
  process.exitCode = await plantAll();
} finally {
  await rm(copy, { recursive: true });
}

async function plantAll(): Promise<number> {
  const wanted = process.argv[2] ?? "";
  const planted = mutations.filter(({ bug }) => bug.includes(wanted));
  if (planted.length === 0) {
    console.error(
      `no bug's name contains "${wanted}"; there are:\n${mutations.map(({ bug }) => `  ${bug}`).join("\n")}`,
    );
    return 2;
  }
  for (const name of copied) await cp(join(project, name), join(copy, name), { recursive: true });
  await writeFile(join(copy, "vitest.config.ts"), config);
  await symlink(join(project, "node_modules"), join(copy, "node_modules"));
  if ((await byRules()).by || (await byModel()).by) {
    console.error(
      `the tests must be green before a bug is planted: ${(await byRules()).by ?? (await byModel()).by}`,
    );
    return 1;
  }
  let survivors = 0;
  for (const mutation of planted) {
    const restore = await plant(mutation);
    const rules = await byRules();
    const model = mutation.mustFind.includes("model") ? await byModel() : { by: "(not asked)" };
    await restore();
    if (!rules.by || !model.by) survivors += 1;
    console.log(`${rules.by && model.by ? "caught  " : "SURVIVED"} ${mutation.bug}`);
    console.log(`         rules: ${rules.by ?? "found nothing"}`);
    console.log(`         model: ${model.by ?? `found nothing in ${stories} stories`}`);
  }
  console.log(survivors === 0 ? "every planted bug was caught" : `${survivors} planted bugs survived`);
  return survivors === 0 ? 0 : 1;
}

/** Changes the copy, and gives what takes the change back. */
async function plant({ bug, edits }: Mutation): Promise<() => Promise<void>> {
  const before = new Map<string, string>();
  for (const { file, find, plant } of edits) {
    const path = join(copy, file);
    const source = await readFile(path, "utf8");
    if (!before.has(path)) before.set(path, source);
    if (source.split(find).length !== 2) throw new Error(`"${bug}" fits ${file} no longer: ${find}`);
    await writeFile(
      path,
      source.replace(find, () => plant),
    );
  }
  return async () => {
    for (const [path, source] of before) await writeFile(path, source);
  };
}

async function byRules(): Promise<Found> {
  const vitest = join(project, "node_modules/vitest/vitest.mjs");
  const { code, output } = await run([vitest, "run", "--bail", "1", "--reporter", "tap-flat", ...ruleTests]);
  if (code === 0) return { by: undefined };
  const failed = output.split("\n").find((line) => line.startsWith("not ok") && line.includes(" > "));
  return {
    by: failed?.replace(/^not ok \d+ - /, "").replace(/ # time=.*$/, "") ?? "the tests did not even start",
  };
}

async function byModel(): Promise<Found> {
  for (const day of [[], ["--good-day"]]) {
    const { code, output } = await run([
      "test/model/torture.ts",
      "--runs",
      `${stories}`,
      "--seed",
      "7",
      ...day,
    ]);
    if (code === 0) continue;
    const why = output.split("\n").find((line) => line.startsWith("Error: ")) ?? output;
    return {
      by: why
        .replace(/^Error: /, "")
        .replace(/ [{[].*$/, "")
        .slice(0, 100),
    };
  }
  return { by: undefined };
}

/** Runs a program by our own Node in the copy, to its end. */
function run(args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, args, { cwd: copy, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const hear = (text: unknown) => {
      output += String(text);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", fail);
    child.on("exit", (code) => done({ code: code ?? 1, output }));
  });
}
