import { globSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { buildFolder, once } from "./build-once.ts";
import { go, newGo } from "./tools.ts";

const engine = join(import.meta.dirname, "../../../lab/days/engine");
const versions = join(engine, "versions");

/** The versions of Karpenter that the lab on a virtual clock runs, the newest first. */
export const labVersions: readonly string[] = globSync("*/go.mod", { cwd: versions })
  .map((file) => file.replace(/.go\.mod$/, ""))
  .sort((a, b) => b.localeCompare(a, "en", { numeric: true }));

/** The lab's program for one version of Karpenter: the shared sources and that version's module. Returns its path. */
export async function buildLab(version: string): Promise<string> {
  const module = join(versions, version);
  const name = `lab-${version}`;
  const program = join(buildFolder, "bin", name);
  const shared = sources().filter((file) => !file.endsWith("_test.go"));
  const own = ["go.mod", "go.sum", "wire.go"].map((file) => join(module, file));
  const inputs = [import.meta.filename, ...own, ...shared.map((file) => join(engine, file))];
  await once(name, inputs, async () => {
    await goIn(version, "build", ["-ldflags", "-s -w", "-o", `${program}.new`], shared);
    renameSync(`${program}.new`, program);
  });
  return program;
}

/** Runs the engine's own tests with one version; returns what they print. */
export const testLab = (version: string): Promise<string> =>
  goIn(version, "test", ["-count", "1"], sources());

const sources = (): readonly string[] => globSync("*.go", { cwd: engine }).sort();

/** Runs Go in the folder of a version, in which it also sees the shared sources. */
async function goIn(version: string, command: string, args: readonly string[], shared: readonly string[]) {
  const module = join(versions, version);
  const overlay = join(buildFolder, `lab-${version}.${command}.json`);
  const replace = Object.fromEntries(
    shared.map((file) => [join(module, basename(file)), join(engine, file)]),
  );
  writeFileSync(overlay, JSON.stringify({ Replace: replace }));
  // All commands share one cache only with the same flags.
  return go(["-C", module, command, "-overlay", overlay, "-trimpath", ...args, "."], newGo);
}
