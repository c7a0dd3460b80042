import { globSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { buildFolder, once } from "./build-once.ts";
import { go } from "./tools.ts";

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
  const shared = globSync("*.go", { cwd: engine })
    .filter((file) => !file.endsWith("_test.go"))
    .sort();
  const own = ["go.mod", "go.sum", "wire.go"].map((file) => join(module, file));
  const inputs = [import.meta.filename, ...own, ...shared.map((file) => join(engine, file))];
  await once(name, inputs, async () => {
    const overlay = join(buildFolder, `${name}.overlay.json`);
    writeFileSync(overlay, JSON.stringify(overlayOf(module, shared)));
    const small = ["-trimpath", "-ldflags", "-s -w"];
    await go(["-C", module, "build", "-overlay", overlay, ...small, "-o", `${program}.new`, "."], newGo);
    renameSync(`${program}.new`, program);
  });
  return program;
}

/** The newest Karpenter needs this Go; an older Go on the machine downloads it. */
const newGo = { GOTOOLCHAIN: "go1.26.10" };

/** Lets Go see the shared sources in the folder of the version. */
const overlayOf = (module: string, shared: readonly string[]) => ({
  Replace: Object.fromEntries(shared.map((file) => [join(module, basename(file)), join(engine, file)])),
});
