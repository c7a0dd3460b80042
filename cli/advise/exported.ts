import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { BadInputError } from "../../lambda/core/errors.ts";
import { instanceEventsIn, recordsIn } from "./cloudtrail-events.ts";
import type { InstanceEvent } from "./lives.ts";

/** What exported files tell of this cluster; of a folder all JSON below it, as a trail's bucket has it. */
export const exportedEvents = (paths: readonly string[], cluster: string): readonly InstanceEvent[] =>
  paths.flatMap((path) => {
    try {
      return filesOf(path)
        .flatMap((file) => recordsIn(textOf(file)))
        .flatMap((record) => instanceEventsIn(record, cluster));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new BadInputError("These events cannot be read", [`${path}: ${why}`]);
    }
  });

function filesOf(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  const below = readdirSync(path, { recursive: true, encoding: "utf8" });
  return below.filter((name) => /\.json(\.gz)?$/.test(name)).map((name) => join(path, name));
}

function textOf(file: string): string {
  const bytes = readFileSync(file);
  const isZipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return (isZipped ? gunzipSync(bytes) : bytes).toString("utf8");
}
