import { type Duration, formatDuration, parseDuration } from "../core/duration.ts";
import { BadInputError } from "../core/errors.ts";
import { parseScope, type Scope } from "../core/scope.ts";

type Path = string;

/** A list of a hundred thousand items can be wrong in each. */
const maxProblems = 20;

/** Reads unknown input field by field and remembers everything that is wrong with it. */
export class Fields {
  private readonly what: string;
  private readonly problems: string[] = [];

  constructor(what: string) {
    this.what = what;
  }

  refuse(path: Path, expected: string, value: unknown): undefined {
    this.problems.push(
      `${path} must be ${expected}${value === undefined ? ", but is missing" : `, not ${brief(value)}`}`,
    );
    return undefined;
  }

  /** The object at a path; an empty one stands in for what is none, so that all problems can be reported at once. */
  object(value: unknown, path: Path): Readonly<Record<string, unknown>> {
    if (isObject(value)) return value;
    this.refuse(path, "an object", value);
    return {};
  }

  text(value: unknown, path: Path, expected = "text", pattern: RegExp = /^[\s\S]{1,1000}$/): string {
    if (typeof value === "string" && pattern.test(value)) return value;
    this.refuse(path, expected, value);
    return "";
  }

  /** Without control characters: it is shown on terminals, which would obey them. */
  optionalLine(value: unknown, path: Path): string | undefined {
    return value === undefined || value === null
      ? undefined
      : this.text(value, path, "one line of 1 to 1000 characters", /^\P{Cc}{1,1000}$/u);
  }

  date(value: unknown, path: Path): Date {
    const read = typeof value === "string" && times.test(value) ? new Date(value) : new Date(Number.NaN);
    if (!Number.isNaN(read.getTime())) return read;
    this.refuse(path, "a time like 2026-01-31T09:30:00Z", value);
    return new Date(0);
  }

  optionalDate(value: unknown, path: Path): Date | undefined {
    return value === undefined || value === null ? undefined : this.date(value, path);
  }

  count(value: unknown, path: Path, most: number): number {
    if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= most) return value;
    this.refuse(path, `a whole number from 0 to ${most}`, value);
    return 0;
  }

  duration(value: unknown, path: Path, least: Duration, most: Duration): Duration | undefined {
    if (value === undefined || value === null) return undefined;
    const read = typeof value === "string" ? parseDuration(value) : undefined;
    if (read !== undefined && read >= least && read <= most) return read;
    return this.refuse(
      path,
      `a duration from ${formatDuration(least)} to ${formatDuration(most)}, like 90s, 20m or 2h`,
      value,
    );
  }

  scope(value: unknown, path: Path): Scope | undefined {
    const read = typeof value === "string" ? parseScope(value) : undefined;
    return read ?? this.refuse(path, '"cluster" or "nodepool/NAME"', value);
  }

  optionalScope(value: unknown, path: Path): Scope | undefined {
    return value === undefined || value === null ? undefined : this.scope(value, path);
  }

  list<T>(value: unknown, path: Path, read: (item: unknown, path: Path) => T): T[] {
    if (Array.isArray(value)) return value.map((item, i) => read(item, `${path}[${i}]`));
    this.refuse(path, "a list", value);
    return [];
  }

  /** Throws one error that names every problem, if there was any; of very many the first. */
  end(): void {
    const more = this.problems.length - maxProblems;
    const reported = this.problems.slice(0, maxProblems);
    if (reported.length > 0)
      throw new BadInputError(this.what, more > 0 ? [...reported, `and ${more} problems more`] : reported);
  }
}

const times = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Input may be of any size and depth, so an error shows only the beginning of what is no structure. */
function brief(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "an object";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
