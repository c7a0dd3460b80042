import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

const fileIn = (folder: string) => join(folder, "hold-annotation");

/** The annotation under which the last run put its marks; undefined before the first. */
export async function lastAnnotation(folder: string): Promise<string | undefined> {
  try {
    return (await readFile(fileIn(folder), "utf8")).trim() || undefined;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Remembers the annotation in one step, so that a crash leaves the old one or the new one. */
export async function rememberAnnotation(folder: string, annotation: string): Promise<void> {
  const draft = `${fileIn(folder)}.new`;
  await writeFile(draft, `${annotation}\n`);
  await rename(draft, fileIn(folder));
}
