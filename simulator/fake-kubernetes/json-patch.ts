import { isDeepStrictEqual } from "node:util";
import { badRequest, invalid, isObject, type Json } from "./objects.ts";

type Tree = { [key: string]: Json } | Json[];

const refused = () => invalid("the server rejected our request due to an error in our request");

/**
 * Applies a JSON Patch (RFC 6902) as the real server does, which is laxer: it takes a `test` for null where the key
 * is absent, and replaces what is absent in a map that is there.
 */
export function applyJsonPatch(target: Json, patch: Json): Json {
  if (!Array.isArray(patch)) throw badRequest("a JSON patch is a list of operations");
  let document = structuredClone(target);
  for (const operation of patch) {
    if (!isObject(operation)) throw badRequest("an operation of a JSON patch is an object");
    document = applyOne(document, operation);
  }
  return document;
}

function applyOne(document: Json, operation: Readonly<Record<string, Json>>): Json {
  const { op, path, from, value = null } = operation;
  if (typeof path !== "string") throw badRequest("an operation of a JSON patch names its path");
  if (op === "test") {
    if (!isDeepStrictEqual(read(document, path) ?? null, value)) throw refused();
    return document;
  }
  if (op === "add") return write(document, path, value, true);
  if (op === "replace") return write(document, path, value, false);
  if (op === "remove") return remove(document, path);
  if ((op !== "move" && op !== "copy") || typeof from !== "string") throw refused();
  const moved = read(document, from);
  if (moved === undefined) throw refused();
  return write(op === "move" ? remove(document, from) : document, path, structuredClone(moved), true);
}

const stepsOf = (path: string): string[] =>
  path
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));

/** The value at a path; undefined where the last key is absent, refused where the way there is. */
function read(document: Json, path: string): Json | undefined {
  const steps = stepsOf(path);
  const last = steps.pop();
  if (last === undefined) return document;
  const parent = parentOf(document, steps);
  return Array.isArray(parent) ? parent[Number(last)] : parent[last];
}

function parentOf(document: Json, steps: readonly string[]): Tree {
  let here: Json | undefined = document;
  for (const step of steps) {
    if (Array.isArray(here)) here = here[Number(step)];
    else here = isObject(here) ? here[step] : undefined;
  }
  if (typeof here !== "object" || here === null) throw refused();
  return here as Tree;
}

function write(document: Json, path: string, value: Json, inserts: boolean): Json {
  const steps = stepsOf(path);
  const last = steps.pop();
  if (last === undefined) return value;
  const parent = parentOf(document, steps);
  if (!Array.isArray(parent)) parent[last] = value;
  else if (last === "-") parent.push(value);
  else if (!(Number(last) < parent.length + (inserts ? 1 : 0))) throw refused();
  else parent.splice(Number(last), inserts ? 0 : 1, value);
  return document;
}

function remove(document: Json, path: string): Json {
  if (read(document, path) === undefined) throw refused();
  const steps = stepsOf(path);
  const last = steps.pop() ?? "";
  const parent = parentOf(document, steps);
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return document;
}

/** Applies a merge patch (RFC 7396): null takes a key away. */
export function applyMergePatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged: Record<string, Json> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = applyMergePatch(merged[key] ?? null, value);
  }
  return merged;
}
