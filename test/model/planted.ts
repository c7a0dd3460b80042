import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Mutation } from "./mutations.ts";

const project = resolve(import.meta.dirname, "../..");
const copied = ["lambda", "local", "test", "package.json", "tsconfig.json"];

// The project's own set-up bundles the functions, which these tests do not need.
const config = 'export default { test: { include: ["test/**/*.test.ts"], testTimeout: 30_000 } };';

/** Copies into a folder what the rules and the model are made of, so that bugs can be planted there. */
export async function copyProject(folder: string): Promise<void> {
  for (const name of copied) await cp(join(project, name), join(folder, name), { recursive: true });
  await writeFile(join(folder, "vitest.config.ts"), config);
  await symlink(join(project, "node_modules"), join(folder, "node_modules"));
}

/** Changes the copy, and gives what takes the change back. */
export async function plant(copy: string, { bug, edits }: Mutation): Promise<() => Promise<void>> {
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
