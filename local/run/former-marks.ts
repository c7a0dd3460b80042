import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Rights } from "../../lambda/cluster-access/rules.ts";
import type { Log } from "../../lambda/core/ports.ts";

/**
 * When the settings name another annotation than the last run's, every mark is removed; holds that are on mark anew. The
 * former annotations are forgotten last, so that a removal that was cut short is repeated.
 */
export async function removeFormerMarks(
  access: Pick<Rights, "removeMarks">,
  folder: string,
  annotation: string,
  log: Log,
): Promise<void> {
  const former = (await lastAnnotations(folder)).filter((one) => one !== annotation);
  await rememberAnnotations(folder, [annotation, ...former]);
  if (former.length === 0) return;
  const nodes = await access.removeMarks([annotation, ...former]);
  log.info("marks removed: the annotation has changed", { former, present: annotation, nodes });
  await rememberAnnotations(folder, [annotation]);
}

const fileIn = (folder: string) => join(folder, "hold-annotation");

/** The annotations under which there may be marks of the last run; none before the first. */
async function lastAnnotations(folder: string): Promise<readonly string[]> {
  try {
    return (await readFile(fileIn(folder), "utf8")).split("\n").filter(Boolean);
  } catch (error) {
    if (Object(error).code === "ENOENT") return [];
    throw error;
  }
}

/** Remembers the annotations in one step, so that a crash leaves the old ones or the new ones. */
async function rememberAnnotations(folder: string, annotations: readonly string[]): Promise<void> {
  const draft = `${fileIn(folder)}.new`;
  await writeFile(draft, `${annotations.join("\n")}\n`, { mode: 0o600 });
  await rename(draft, fileIn(folder));
}
