import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { BadInputError } from "../../lambda/core/errors.ts";
import { instanceEventsIn, placeOf, recordsIn } from "./cloudtrail-events.ts";
import type { InstanceEvent } from "./lives.ts";

/** A day of the busiest account is a fraction of this. */
const largest = 512 * 1024 * 1024 - 64;

/** Reads exported records of this cluster; in a folder, all JSON files below it, laid out like a trail's bucket. */
export function exportedEvents(paths: readonly string[], cluster: string): readonly InstanceEvent[] {
  const places = new Set<string>();
  const eventsIn = (record: unknown) => {
    const events = instanceEventsIn(record, cluster);
    if (events.some(({ kind }) => kind === "launched")) places.add(placeOf(record));
    return events;
  };
  const files = paths.flatMap((path) => reading(path, () => filesOf(path)));
  const events = files.flatMap((file) => reading(file, () => recordsIn(textOf(file)).flatMap(eventsIn)));
  if (places.size < 2) return events;
  // An organization's trail keeps all of its accounts and regions in one bucket.
  const all = [...places].sort().join(", ");
  throw new BadInputError("These events are not of one cluster", [
    `there is a cluster ${cluster} in each of ${all}: name the folder of one`,
  ]);
}

function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    // Very deep nesting overflows the stack.
    const problem = error instanceof RangeError ? "it is too large, or nested too deep" : why;
    throw new BadInputError("These events cannot be read", [`${path}: ${problem}`]);
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
