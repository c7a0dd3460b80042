import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type JsonObject, withoutEmptyMaps } from "./objects.ts";

const halves = ["labels", "annotations"] as const;

/** The record of who set which label and annotation, after a change by this manager; as the API server keeps it. */
export function recordManager(before: JsonObject, after: JsonObject, manager: string, time: string): Json[] {
  const changed = halves.map((half) => ({ half, keys: changedKeys(before[half], after[half]) }));
  const others = entriesOf(before).map((entry) => withoutKeys(entry, changed));
  const set = changed.map(({ half, keys }) => ({
    half,
    keys: keys.filter((key) => key in mapOf(after[half])),
  }));
  if (set.every(({ keys }) => keys.length === 0)) return others.filter(ownsAny);
  const mine = others.find((entry) => entry.manager === manager);
  const own = set.map(({ half, keys }) => {
    const added = Object.fromEntries(keys.map((key) => [`f:${key}`, {}]));
    return [half, { ...ownedIn(mine ?? {}, half), ...added }] as const;
  });
  const entry = { ...entryBy(manager), time, fieldsV1: withHalves(mine?.fieldsV1, own) };
  return [...others.filter((one) => one !== mine), entry].filter(ownsAny);
}

type Changed = readonly Readonly<{ half: (typeof halves)[number]; keys: readonly string[] }>[];

const entryBy = (manager: string) => ({
  manager,
  operation: "Update",
  apiVersion: "v1",
  fieldsType: "FieldsV1",
});

const mapOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

const entriesOf = ({ managedFields }: JsonObject): JsonObject[] =>
  Array.isArray(managedFields) ? managedFields.filter(isObject) : [];

const ownedIn = ({ fieldsV1 }: JsonObject, half: string): JsonObject =>
  mapOf(mapOf(mapOf(fieldsV1)["f:metadata"])[`f:${half}`]);

const ownsAny = ({ fieldsV1 }: JsonObject): boolean => Object.keys(mapOf(fieldsV1)).length > 0;

const changedKeys = (before: Json | undefined, after: Json | undefined): string[] =>
  [...new Set([...Object.keys(mapOf(before)), ...Object.keys(mapOf(after))])].filter(
    (key) => !isDeepStrictEqual(mapOf(before)[key], mapOf(after)[key]),
  );

function withoutKeys(entry: JsonObject, changed: Changed): JsonObject {
  const kept = changed.map(({ half, keys }) => {
    const fields = Object.entries(ownedIn(entry, half)).filter(([key]) => !keys.includes(key.slice(2)));
    return [half, Object.fromEntries(fields)] as const;
  });
  return { ...entry, fieldsV1: withHalves(entry.fieldsV1, kept) };
}

/** These fields of a manager with other labels and annotations; without a map that is empty now. */
function withHalves(fields: Json | undefined, owned: readonly (readonly [string, JsonObject])[]): JsonObject {
  const { "f:metadata": metadata, ...others } = mapOf(fields);
  const now = Object.fromEntries(owned.map(([half, keys]) => [`f:${half}`, keys]));
  const { "f:labels": _, "f:annotations": __, ...rest } = mapOf(metadata);
  return { ...others, ...withoutEmptyMaps({ "f:metadata": { ...rest, ...withoutEmptyMaps(now) } }) };
}
