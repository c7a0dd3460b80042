import { isDeepStrictEqual } from "node:util";
import { badRequest, invalid, isObject, type Json } from "./objects.ts";

const refused = () => invalid("the server rejected our request due to an error in our request");

/**
 * Applies a JSON Patch (RFC 6902) to maps and to the items of lists, as the real server does, which accepts more: a
 * `test` for null where the key is absent, and a `replace` of an absent key in an existing map. It adds no items to
 * lists. Unchanged parts are shared with the original.
 */
export function applyJsonPatch(target: Json, patch: Json): Json {
  if (!Array.isArray(patch)) throw badRequest("a JSON patch is a list of operations");
  return patch.reduce<Json>((document, operation) => {
    const { op, path, value = null } = isObject(operation) ? operation : {};
    if (typeof path !== "string") throw badRequest("an operation of a JSON patch names its path");
    const keys = path.split("/").slice(1);
    return changed(
      document,
      keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~")),
      operationOf(op, value),
    );
  }, target);
}

/** What an operation makes of the value at its path; undefined where there is none. */
type Operation = (before: Json | undefined) => Json | undefined;

function operationOf(op: Json | undefined, value: Json): Operation {
  if (op === "add" || op === "replace") return () => value;
  return (before) => {
    if (op === "remove" && before !== undefined) return undefined;
    if (op === "test" && isDeepStrictEqual(before ?? null, value)) return before;
    throw refused();
  };
}

/** A copy of the document in which the value at a path is another. */
function changed(document: Json, [key, ...rest]: readonly string[], operation: Operation): Json {
  if (key !== undefined && Array.isArray(document)) return changedItem(document, [key, ...rest], operation);
  if (key === undefined || !isObject(document)) throw refused();
  const { [key]: before, ...others } = document;
  if (rest.length > 0 && before === undefined) throw refused();
  const after = rest.length > 0 ? changed(before ?? null, rest, operation) : operation(before);
  if (after === before) return document;
  return after === undefined ? others : { ...others, [key]: after };
}

function changedItem(
  list: readonly Json[],
  [key = "", ...rest]: readonly string[],
  operation: Operation,
): Json {
  const before = list[Number(key)];
  if (before === undefined) throw refused();
  const after = rest.length > 0 ? changed(before, rest, operation) : operation(before);
  return after === before ? list : list.toSpliced(Number(key), 1, ...(after === undefined ? [] : [after]));
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
