import * as v from "valibot";
import { BadInputError } from "../../../lambda/core/errors.ts";
import { parseQuantity } from "../../../lambda/kubernetes/quantity.ts";
import { nearestName } from "../../../lambda/spelling.ts";

/*
 * The work of a cluster, as a file or as a generator makes it. Times are in seconds from the trace's beginning. A file must
 * have `lasts`; every list may be left out.
 */

const number = (expected: string, fits: (value: number) => boolean) =>
  v.pipe(
    v.number(expected),
    v.check((value) => Number.isFinite(value) && fits(value), expected),
  );

/** A year. The engine cannot count to three centuries, and would end at once with a result of nothing. */
const longest = 366 * 24 * 3_600;
const time = number("a time in seconds from 0, of at most a year", (value) => value >= 0 && value <= longest);
const length = number(
  "a length in seconds above 0, of at most a year",
  (value) => value > 0 && value <= longest,
);
const wholeFrom = (least: number) =>
  number(`a whole number from ${least}`, (value) => Number.isSafeInteger(value) && value >= least);
const count = wholeFrom(0);
const share = number("a share from 0 to 1", (value) => value >= 0 && value <= 1);
const expectedName = "a name of lower case letters, digits, dashes and dots, at most 50";
const name = v.pipe(v.string(expectedName), v.regex(/^[a-z0-9]([-.a-z0-9]{0,48}[a-z0-9])?$/, expectedName));
const yes = v.boolean("true or false");

/** Kubernetes counts nothing smaller. */
const leastAmount = 0.001;
/** The engine counts thousandths in 64 bits. */
const mostAmount = 1e15;
const expectedQuantity = "an amount of 1m or more, like 500m, 2, 512Mi or 4Gi";
const quantity = v.pipe(
  v.union([v.number(), v.string()], expectedQuantity),
  v.check((value) => {
    const amount = parseQuantity(String(value)) ?? 0;
    return amount >= leastAmount && amount <= mostAmount;
  }, expectedQuantity),
);

/** An object with these fields and no others: a misspelt field would otherwise have no effect. */
const only = <E extends v.ObjectEntries>(entries: E) => v.strictObject(entries, "an object");
const list = <S extends v.GenericSchema>(item: S) => v.optional(v.array(item, "a list"), []);

const change = only({ at: time, replicas: v.optional(count) });

const budget = v.pipe(
  only({ maxUnavailable: v.optional(count), minAvailable: v.optional(count) }),
  v.check(
    ({ maxUnavailable, minAvailable }) => (maxUnavailable === undefined) !== (minAvailable === undefined),
    "an object with either maxUnavailable or minAvailable",
  ),
);

const service = only({
  name,
  replicas: count,
  cpu: quantity,
  memory: v.optional(quantity),
  /** A change with `replicas` scales it; one without rolls it out. */
  changes: v.optional(v.array(change, "a list")),
  pool: v.optional(name),
  pdb: v.optional(budget),
  doNotDisrupt: v.optional(yes),
  starts: v.optional(time),
  surge: v.optional(share),
  unavailable: v.optional(share),
  spread: v.optional(yes),
});

const job = only({
  name,
  at: time,
  runs: length,
  cpu: quantity,
  memory: v.optional(quantity),
  image: v.optional(name),
  pool: v.optional(name),
  doNotDisrupt: v.optional(yes),
});

const traceSchema = only({
  about: v.optional(v.string("text")),
  /** The engine divides it into hundredths, and the sum of those of a fraction may be more than the whole. */
  lasts: v.pipe(length, v.transform(Math.ceil)),
  services: list(service),
  jobs: list(job),
  daemons: list(only({ name, cpu: quantity, memory: quantity })),
  drifts: list(only({ at: time, pool: v.optional(name) })),
  interruptions: list(only({ at: time, count: v.optional(wholeFrom(1)) })),
  /** Karpenter disrupts nodes for their drift alone, so that nothing else is launched meanwhile. */
  driftAlone: v.optional(yes),
});

export type Trace = v.InferOutput<typeof traceSchema>;
export type Service = v.InferOutput<typeof service>;
export type Job = v.InferOutput<typeof job>;
export type Change = v.InferOutput<typeof change>;

/** A trace, with the defaults of what is left out; or one error that names every wrong field. */
export function parseTrace(value: unknown, source: string): Trace {
  const { success, output, issues } = v.safeParse(traceSchema, Array.isArray(value) ? undefined : value);
  const problems = success ? conflictsIn(output) : issues.map(problemOf);
  if (success && problems.length === 0) return output;
  throw new BadInputError(`${source} is no trace that can be played`, shortened(problems));
}

const mostProblems = 20;
const shortened = (problems: readonly string[]): readonly string[] =>
  problems.length <= mostProblems
    ? problems
    : [...problems.slice(0, mostProblems), `and ${problems.length - mostProblems} more problems`];

function problemOf(issue: v.BaseIssue<unknown>): string {
  const at = (issue.path ?? [])
    .map(({ key }, i) => (typeof key === "number" ? `[${key}]` : `${i > 0 ? "." : ""}${String(key)}`))
    .join("");
  const last = issue.path?.at(-1);
  if (issue.type !== "strict_object" || last === undefined) return `${at || "it"} must be ${issue.message}`;
  // Of a strict object: a field is missing, or there is no such field.
  if (last.value === undefined) return `${at} is missing`;
  const meant = nearestName(String(last.key), fieldNames);
  return `${at} is unknown${meant ? `: did you mean ${meant}?` : ""}`;
}

/** Every field, for which also a misspelt one may be meant. */
export const fieldNames = [traceSchema, service, job, change]
  .flatMap(({ entries }) => Object.keys(entries))
  .concat("maxUnavailable", "minAvailable", "count");

/** What each field alone does not show. */
function conflictsIn({ services, jobs, daemons, drifts, interruptions, lasts }: Trace): readonly string[] {
  const problems: string[] = [];
  const repeated = (kind: string, names: readonly string[]) => {
    const seen = new Set<string>();
    for (const one of names) {
      if (seen.has(one)) problems.push(`${kind}: the name ${one} occurs twice`);
      seen.add(one);
    }
  };
  repeated(
    "jobs",
    jobs.map(({ name }) => name),
  );
  repeated(
    "services and daemons",
    [...services, ...daemons].map(({ name }) => name),
  );
  // The engine names pods of a service `web` like `web-1-7` (version, serial), and those of a job like `web-1-1` (attempt).
  for (const { name } of jobs) {
    const service = services.find((one) => name.replace(/-\d+$/, "") === one.name && name !== one.name);
    if (service)
      problems.push(`jobs: pods of ${name} could be called like those of the service ${service.name}`);
  }
  const within = (field: string, items: readonly Readonly<{ at: number }>[]) =>
    items.forEach(({ at }, i) => {
      if (at > lasts)
        problems.push(`${field}[${i}].at must be within the trace, which lasts ${lasts} seconds`);
    });
  within("jobs", jobs);
  within("drifts", drifts);
  within("interruptions", interruptions);
  services.forEach(({ changes = [] }, i) => {
    within(`services[${i}].changes`, changes);
    const at = changes.findIndex((one, j) => one.at < (changes[j - 1]?.at ?? 0));
    if (at >= 0) problems.push(`services[${i}].changes[${at}].at must not be before the change above it`);
  });
  return problems;
}

/** The NodePools that a trace needs: those it names, and `default`. */
export function poolsOf({ services, jobs, drifts }: Trace): readonly string[] {
  const named = [...services, ...jobs, ...drifts].flatMap(({ pool }) => pool ?? []);
  return ["default", ...new Set(named.filter((one) => one !== "default"))];
}
