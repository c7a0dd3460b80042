import type { Rights } from "../../lambda/cluster-access/rules.ts";
import type { Log } from "../../lambda/core/ports.ts";
import { lastAnnotations, rememberAnnotations } from "./annotation-file.ts";

/** When the settings name another annotation than the last run's, its marks come along; begun again, it goes on. */
export async function bringMarks(
  access: Pick<Rights, "handOver" | "moveMarks">,
  folder: string,
  annotation: string,
  log: Log,
): Promise<void> {
  const known = await lastAnnotations(folder);
  const others = known.filter((one) => one !== annotation);
  // Before any mark of ours is under the new key, whoever has it has it from its owner; afterwards nobody could tell.
  if (!known.includes(annotation)) for (const from of others) await access.handOver(from, annotation);
  await rememberAnnotations(folder, [...others, annotation]);
  for (const from of others) {
    const nodes = await access.moveMarks(from, annotation, "ours");
    log.info("marks moved to another annotation", { from, to: annotation, nodes });
  }
  if (others.length > 0) await rememberAnnotations(folder, [annotation]);
}
