import * as v from "valibot";
import { BadInputError } from "../core/errors.ts";

/** An error lists this many problems: each of a hundred thousand items may have one. */
const maxProblems = 20;

type Issue = v.BaseIssue<unknown>;

/** Parses a value, or throws one error that names every problem; `root` names the value itself. */
export function parse<S extends v.GenericSchema>(
  what: string,
  schema: S,
  value: unknown,
  root: string,
): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw new BadInputError(what, problemsOf(result.issues, root));
}

/** An object with these fields, and perhaps others; a missing one is reported with what is expected in its place. */
export const fields = <E extends v.ObjectEntries>(entries: E) =>
  v.object(entries, (issue) => expectedOf(entries, issue.path?.[0]?.key));

/** The same, and no others: a field that is spelt wrong must not count as left out. */
export const onlyFields = <E extends v.ObjectEntries>(entries: E) =>
  v.strictObject(entries, ({ expected, path }) =>
    expected === "never" ? `one of ${Object.keys(entries).join(", ")}` : expectedOf(entries, path?.[0]?.key),
  );

/** The same; the others are kept as they are. */
export const openFields = <E extends v.ObjectEntries>(entries: E) =>
  v.looseObject(entries, (issue) => expectedOf(entries, issue.path?.[0]?.key));

/** Any object that is not a list. */
export const anyObject = v.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "an object",
);

/** A list of at most so many items; the items of a longer list are not read. */
export const list = <S extends v.GenericSchema>(item: S, most = 1_000) =>
  v.pipe(
    v.custom<unknown[]>((value) => Array.isArray(value), "a list"),
    v.check((items) => items.length <= most, `a list of at most ${most} items`),
    v.array(item),
  );

/** The same schema, where the value may be missing or null. */
export const optional = <S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    v.nullish(schema),
    v.transform((value) => value ?? undefined),
  );

/** Text that `read` converts; it returns undefined for text that is not valid. */
export const textAs = <T>(expected: string, read: (text: string) => T | undefined) =>
  v.pipe(
    v.string(expected),
    v.rawTransform<string, T>(({ dataset, addIssue, NEVER }) => {
      const value = read(dataset.value);
      if (value !== undefined) return value;
      addIssue({ message: expected });
      return NEVER;
    }),
  );

export const matching = (pattern: RegExp, expected: string) =>
  v.pipe(v.string(expected), v.regex(pattern, expected));

/** Every problem: its path, what is expected and what was found. Of very many, only the first. */
function problemsOf(issues: readonly Issue[], root: string): readonly string[] {
  const problems = issues.slice(0, maxProblems).map((issue) => {
    if (issue.expected === "never") return `the field ${pathOf(issue)} must be ${issue.message}`;
    const found = issue.input === undefined ? ", but is missing" : `, not ${brief(issue.input)}`;
    return `${pathOf(issue) || root} must be ${issue.message}${found}`;
  });
  const more = issues.length - problems.length;
  return more > 0 ? [...problems, `and ${more} more problems`] : problems;
}

const pathOf = ({ path }: Issue): string =>
  (path ?? [])
    .map(({ key }, i) => (typeof key === "number" ? `[${key}]` : `${i > 0 ? "." : ""}${String(key)}`))
    .join("");

function expectedOf(entries: v.ObjectEntries, key: unknown): string {
  const { message } = Object(typeof key === "string" && entries[key]);
  return typeof message === "string" ? message : "an object";
}

/** Input may have any size and depth, so an error quotes only the beginning of a plain value. */
function brief(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
