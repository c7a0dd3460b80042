import { isDeepStrictEqual } from "node:util";
import { badRequest, invalid, isObject, type Json, type JsonObject } from "./objects.ts";

const refused = () => invalid("the server rejected our request due to an error in our request");

/**
 * Applies a JSON Patch (RFC 6902) as the real server does, which accepts more: a `test` for null where the key is
 * absent, and a `replace` of an absent key in an existing map. Unchanged parts are shared with the original.
 */
export function applyJsonPatch(target: Json, patch: Json): Json {
  if (!Array.isArray(patch)) throw badRequest("a JSON patch is a list of operations");
  return patch.reduce<Json>((document, operation) => {
    if (!isObject(operation)) throw badRequest("an operation of a JSON patch is an object");
    return applyOne(document, operation);
  }, target);
}

function applyOne(document: Json, operation: JsonObject): Json {
  const { op, path, from, value = null } = operation;
  if (typeof path !== "string") throw badRequest("an operation of a JSON patch names its path");
  const steps = stepsOf(path);
  if (op === "test") {
    if (!isDeepStrictEqual(read(document, steps) ?? null, value)) throw refused();
    return document;
  }
  if (op === "add") return write(document, steps, value, "insert");
  if (op === "replace") return write(document, steps, value, "replace");
  if (op === "remove") return remove(document, steps);
  if ((op !== "move" && op !== "copy") || typeof from !== "string") throw refused();
  const moved = read(document, stepsOf(from));
  if (moved === undefined) throw refused();
  return write(op === "move" ? remove(document, stepsOf(from)) : document, steps, moved, "insert");
}

const stepsOf = (path: string): readonly string[] =>
  path
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));

/** The value at a path; undefined where the last key is absent, refused where the way there is. */
function read(document: Json, steps: readonly string[]): Json | undefined {
  let value: Json | undefined = document;
  for (const step of steps) value = childOf(value, step);
  return value;
}

function childOf(parent: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(parent)) return parent[Number(key)];
  if (!isObject(parent)) throw refused();
  return parent[key];
}

function write(document: Json, steps: readonly string[], value: Json, how: "insert" | "replace"): Json {
  return change(document, steps, value, (parent, key) => {
    if (!Array.isArray(parent)) return { ...parent, [key]: value };
    if (key === "-") return [...parent, value];
    const last = parent.length - (how === "insert" ? 0 : 1);
    if (!(Number(key) <= last)) throw refused();
    return parent.toSpliced(Number(key), how === "insert" ? 0 : 1, value);
  });
}

function remove(document: Json, steps: readonly string[]): Json {
  if (read(document, steps) === undefined) throw refused();
  return change(document, steps, null, (parent, key) => {
    if (Array.isArray(parent)) return parent.toSpliced(Number(key), 1);
    const { [key]: _, ...rest } = parent;
    return rest;
  });
}

type Tree = JsonObject | Json[];

/** A copy of the document with another parent of the last step; `whole` replaces the root. */
function change(
  document: Json,
  [key, ...rest]: readonly string[],
  whole: Json,
  last: (parent: Tree, key: string) => Json,
): Json {
  if (key === undefined) return whole;
  if (typeof document !== "object" || document === null) throw refused();
  const parent = document as Tree;
  if (rest.length === 0) return last(parent, key);
  const child = childOf(parent, key);
  if (child === undefined) throw refused();
  const changed = change(child, rest, whole, last);
  return Array.isArray(parent) ? parent.with(Number(key), changed) : { ...parent, [key]: changed };
}

/** Applies a merge patch (RFC 7396): null removes a key. */
export function applyMergePatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged: Record<string, Json> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = applyMergePatch(merged[key] ?? null, value);
  }
  return merged;
}
