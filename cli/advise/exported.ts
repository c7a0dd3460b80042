import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { BadInputError } from "../../lambda/core/errors.ts";
import { instanceEventsIn, recordsIn } from "./cloudtrail-events.ts";
import type { InstanceEvent } from "./lives.ts";

/** A day of the busiest account is a fraction of this. */
const largest = 512 * 1024 * 1024 - 64;

/** What exported files tell of this cluster; of a folder all JSON below it, as a trail's bucket has it. */
export const exportedEvents = (paths: readonly string[], cluster: string): readonly InstanceEvent[] =>
  paths
    .flatMap((path) => reading(path, () => filesOf(path)))
    .flatMap((file) =>
      reading(file, () => recordsIn(textOf(file)).flatMap((record) => instanceEventsIn(record, cluster))),
    );

function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    // What is nested beyond all measure ends the stack.
    const told = error instanceof RangeError ? "it is too large, or nested too deep" : why;
    throw new BadInputError("These events cannot be read", [`${path}: ${told}`]);
  }
}

function filesOf(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  const below = readdirSync(path, { recursive: true, encoding: "utf8" });
  return below.filter((name) => /\.json(\.gz)?$/.test(name)).map((name) => join(path, name));
}

function textOf(file: string): string {
  const bytes = readFileSync(file);
  const isZipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return (isZipped ? gunzipSync(bytes, { maxOutputLength: largest }) : bytes).toString("utf8");
}
