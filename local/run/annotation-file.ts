import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

const fileIn = (folder: string) => join(folder, "hold-annotation");

/** The annotations under which there may be marks of the last run: one, or several while they move; none before the first. */
export async function lastAnnotations(folder: string): Promise<readonly string[]> {
  try {
    return (await readFile(fileIn(folder), "utf8")).split("\n").filter((line) => line.trim() !== "");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** Remembers the annotations in one step, so that a crash leaves the old ones or the new ones. */
export async function rememberAnnotations(folder: string, annotations: readonly string[]): Promise<void> {
  const draft = `${fileIn(folder)}.new`;
  await writeFile(draft, `${annotations.join("\n")}\n`, { mode: 0o600 });
  await rename(draft, fileIn(folder));
}
