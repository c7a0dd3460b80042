import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Mutation, mutations } from "./mutations.ts";
import { copyProject, plant } from "./planted.ts";

// Plants each known bug into a copy of the project, one at a time, and shows who finds it.

const project = resolve(import.meta.dirname, "../..");
const stories = 6_000;
const ruleTests = ["test/core", "test/scenarios", "test/handlers", "test/contracts/nodes.test.ts"];

type Found = Readonly<{ by: string | undefined }>;

const wanted = process.argv[2] ?? "";
const chosen = mutations.filter(({ bug }) => bug.includes(wanted));
if (chosen.length === 0) {
  console.error(
    `no bug's name contains "${wanted}"; there are:\n  ${mutations.map(({ bug }) => bug).join("\n  ")}`,
  );
  process.exit(2);
}

const copy = await mkdtemp(join(tmpdir(), "karpenter-node-holder-mutations-"));
try {
  process.exitCode = await plantAll();
} finally {
  await rm(copy, { recursive: true });
}

async function plantAll(): Promise<number> {
  await copyProject(copy);
  const broken = (await byRules()).by ?? (chosen.some(isForModel) ? (await byModel()).by : undefined);
  if (broken) {
    console.error(`the tests must be green before a bug is planted: ${broken}`);
    return 1;
  }
  let survivors = 0;
  for (const mutation of chosen) {
    const restore = await plant(copy, mutation);
    const rules = await byRules();
    const model = isForModel(mutation) ? await byModel() : { by: "(not asked)" };
    await restore();
    if (!rules.by || !model.by) survivors += 1;
    console.log(`${rules.by && model.by ? "caught  " : "SURVIVED"} ${mutation.bug}`);
    console.log(`         rules: ${rules.by ?? "found nothing"}`);
    console.log(`         model: ${model.by ?? `found nothing in ${stories} stories`}`);
  }
  console.log(survivors === 0 ? "every planted bug was caught" : `${survivors} planted bugs survived`);
  return survivors === 0 ? 0 : 1;
}

function isForModel({ mustFind }: Mutation): boolean {
  return mustFind.includes("model");
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
