import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type JsonObject } from "./objects.ts";

const halves = ["labels", "annotations"] as const;
type Half = (typeof halves)[number];

/** The managers that updated an object, as far as the API server keeps them apart. */
const mostUpdaters = 10;
const foldedName = "ancient-changes";

/**
 * Who owns which label and annotation after a change by this manager, as the API server records it; `before` has the
 * owners that it starts from. A node that is changed and has no owners gets none.
 */
export function ownersAfter(before: JsonObject | "new", after: JsonObject, by: ChangedAt): JsonObject[] {
  const was = before === "new" ? {} : before;
  const owners = entriesOf(was.managedFields);
  if (before !== "new" && owners.length === 0) return [];
  const changes = halves.map((half) => changeOf(half, was[half], after[half]));
  const others = owners.map((entry) => ({ ...entry, fieldsV1: withoutChanged(entry.fieldsV1, changes) }));
  const set = changes.filter((change) => Object.keys(change.set).length > 0);
  if (set.length === 0) return sorted(others.filter(ownsAny));
  const own = { manager: by.manager, operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1" };
  const earlier = others.find((entry) => identityOf(entry) === identityOf(own));
  const taken = { "f:metadata": Object.fromEntries(set.map((one) => [`f:${one.half}`, shrunk(one.set)])) };
  const fieldsV1 = union(mapOf(earlier?.fieldsV1), mapOf(taken));
  const rest = others.filter((entry) => entry !== earlier);
  return sorted(capped([...rest, { ...own, time: by.time, fieldsV1 }].filter(ownsAny)));
}

export type ChangedAt = Readonly<{ manager: string; time: string }>;

/** The owners that a change starts from: a request may send others, and forget them all, but nothing that cannot be read. */
export function ownersGiven(live: Json | undefined, given: Json | undefined): Json {
  if (!Array.isArray(given)) return live ?? [];
  const [first, ...more] = given;
  const isReset = first === undefined || (more.length === 0 && isDeepStrictEqual(first, {}));
  if (isReset) return [];
  return given.every(isReadable) ? given : (live ?? []);
}

const isReadable = (entry: Json): boolean =>
  isObject(entry) &&
  (entry.operation === "Apply" || entry.operation === "Update") &&
  typeof entry.apiVersion === "string" &&
  entry.fieldsType === "FieldsV1";

/** The fields of one map: its keys, and "." for the map itself. */
type Change = Readonly<{ half: Half; set: JsonObject; removed: JsonObject }>;

function changeOf(half: Half, before: Json | undefined, after: Json | undefined): Change {
  const [was, is] = [mapOf(before), mapOf(after)];
  const changed = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (key) => !isDeepStrictEqual(was[key], is[key]),
  );
  const fields = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [`f:${key}`, {}]));
  const [hadMap, hasMap] = [was, is].map((map) => Object.keys(map).length > 0);
  return {
    half,
    set: { ...(!hadMap && hasMap && { ".": {} }), ...fields(changed.filter((key) => key in is)) },
    removed: { ...(hadMap && !hasMap && { ".": {} }), ...fields(changed.filter((key) => !(key in is))) },
  };
}

function withoutChanged(fieldsV1: Json | undefined, changes: readonly Change[]): JsonObject {
  const { "f:metadata": metadata, ...others } = mapOf(fieldsV1);
  const kept: [string, Json][] = Object.entries(mapOf(metadata)).flatMap(([name, owned]) => {
    const change = changes.find(({ half }) => `f:${half}` === name);
    if (!change) return [[name, owned]];
    const rest = Object.entries(expanded(mapOf(owned))).filter(
      ([key]) => !(key in change.set || key in change.removed),
    );
    return rest.length > 0 ? [[name, shrunk(Object.fromEntries(rest))]] : [];
  });
  // An empty set of the whole metadata is no empty map: it owns the whole.
  const isWhole = isObject(metadata) && Object.keys(metadata).length === 0;
  if (kept.length === 0 && !isWhole) return others;
  return { ...others, "f:metadata": Object.fromEntries(kept) };
}

/** `{}` is the map itself, which stands as "." beside keys. */
const expanded = (owned: JsonObject): JsonObject => (Object.keys(owned).length === 0 ? { ".": {} } : owned);
const shrunk = (owned: JsonObject): JsonObject => (isDeepStrictEqual(Object.keys(owned), ["."]) ? {} : owned);

function union(one: JsonObject, other: JsonObject): JsonObject {
  const both = Object.entries(other).map(([key, fields]): [string, Json] => {
    const { [key]: same } = one;
    if (same === undefined || key === ".") return [key, fields];
    return [key, shrunk(union(expanded(mapOf(same)), expanded(mapOf(fields))))];
  });
  return { ...one, ...Object.fromEntries(both) };
}

/** Folds the oldest updates into one entry, as soon as there are too many. */
function capped(owners: readonly JsonObject[]): readonly JsonObject[] {
  const updates = owners.filter(({ operation }) => operation === "Update");
  const [first, second] = updates.toSorted(
    (a, b) => secondsOf(a) - secondsOf(b) || compare(identityOf(a), identityOf(b)),
  );
  if (updates.length <= mostUpdaters || !first || !second) return owners;
  const fold: JsonObject = { ...second, manager: foldedName };
  const { subresource: _, ...entry } = fold;
  const bucket = owners.find((one) => identityOf(one) === identityOf(entry));
  // The real server loses an earlier fold that is not the oldest of all.
  if (bucket === second) return owners.filter((one) => one !== bucket);
  const fieldsV1 = union(mapOf((bucket ?? first).fieldsV1), mapOf(second.fieldsV1));
  const gone = [second, bucket ?? first];
  return [...owners.filter((one) => !gone.includes(one)), { ...entry, fieldsV1 }];
}

const sorted = (owners: readonly JsonObject[]): JsonObject[] =>
  owners.toSorted(
    (a, b) =>
      compare(textOf(a.operation), textOf(b.operation)) ||
      secondsOf(a) - secondsOf(b) ||
      compare(textOf(a.manager), textOf(b.manager)) ||
      compare(textOf(a.subresource), textOf(b.subresource)),
  );

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const secondsOf = ({ time }: JsonObject): number => Math.floor((Date.parse(textOf(time)) || 0) / 1000);

/** As the real server writes it, because it sorts by that. */
const identityOf = ({ manager, operation, apiVersion, subresource }: JsonObject): string =>
  JSON.stringify({
    ...(manager && { manager }),
    ...(operation && { operation }),
    ...(operation !== "Apply" && apiVersion && { apiVersion }),
    ...(subresource && { subresource }),
  });

/** The entries, of one manager the last alone. */
const entriesOf = (managedFields: Json | undefined): JsonObject[] => {
  const entries = Array.isArray(managedFields) ? managedFields.filter(isObject) : [];
  return [...new Map(entries.map((entry) => [identityOf(entry), entry])).values()];
};

const mapOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

const ownsAny = ({ fieldsV1 }: JsonObject): boolean => Object.keys(mapOf(fieldsV1)).length > 0;
