import type { Rights } from "../../lambda/cluster-access/rules.ts";
import type { Log } from "../../lambda/core/ports.ts";
import { lastAnnotations, rememberAnnotations } from "./annotation-file.ts";

/** When the settings name another annotation than the last run's, its marks come along; begun again, it goes on. */
export async function bringMarks(
  access: Pick<Rights, "moveMarks">,
  folder: string,
  annotation: string,
  log: Log,
): Promise<void> {
  const former = (await lastAnnotations(folder)).filter((one) => one !== annotation);
  await rememberAnnotations(folder, [...former, annotation]);
  if (former.length === 0) return;
  const nodes = await access.moveMarks({ present: annotation, former });
  log.info("marks moved to another annotation", { from: former, to: annotation, nodes });
  await rememberAnnotations(folder, [annotation]);
}
