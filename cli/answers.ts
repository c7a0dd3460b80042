import type { HoldLength } from "../lambda/core/auto/decide-hold-length.ts";
import { BadInputError } from "../lambda/core/errors.ts";
import type { Causes, PastHold } from "../lambda/core/holds/hold.ts";
import type { ScopeStatus } from "../lambda/core/operate/status.ts";
import { Fields } from "../lambda/handlers/fields.ts";
import { Failure } from "./terminal/failure.ts";

type Read = Readonly<Record<string, unknown>>;

/** A status as the control function returns it, with dates. */
export type StatusAnswer = Readonly<{
  cluster: string;
  at: Date;
  version: string;
  rules: Readonly<{
    hold: number;
    maxHold: number;
    breather: number;
    initialDelay: number;
    scope: string;
    auto?: object;
  }>;
  scopes: readonly ScopeStatus[];
  nodesUserHeld: number;
  lastSweep?: Date;
  limits: readonly string[];
}>;

const many = Number.MAX_SAFE_INTEGER;
const states = ["none", "held", "releasing", "paused", "breather"] as const;

/** Reads the answer to `status`. */
export const parseStatus = (answer: unknown): StatusAnswer =>
  reading((fields) => {
    const read = fields.object(answer, "the answer");
    const rules = fields.object(read.rules, "rules");
    const lastSweep = optional(read.lastSweep, (value) => fields.date(value, "lastSweep"));
    return {
      cluster: fields.text(read.cluster, "cluster"),
      at: fields.date(read.at, "at"),
      version: fields.text(read.version, "version"),
      rules: {
        hold: fields.count(rules.hold, "rules.hold", many),
        maxHold: fields.count(rules.maxHold, "rules.maxHold", many),
        breather: fields.count(rules.breather, "rules.breather", many),
        initialDelay: fields.count(rules.initialDelay, "rules.initialDelay", many),
        scope: fields.text(rules.scope, "rules.scope"),
        ...(rules.auto !== undefined && { auto: fields.object(rules.auto, "rules.auto") }),
      },
      scopes: fields.list(read.scopes, "scopes", (item, path) => parseScopeStatus(fields, item, path)),
      nodesUserHeld: fields.count(read.nodesUserHeld, "nodesUserHeld", many),
      // A holder of an earlier version knows none.
      limits: Array.isArray(read.limits) ? read.limits.map(textOf) : [],
      ...(lastSweep && { lastSweep }),
    };
  });

function parseScopeStatus(fields: Fields, item: unknown, path: string): ScopeStatus {
  const read = fields.object(item, path);
  const state = states.find((one) => one === read.state);
  if (!state) fields.refuse(`${path}.state`, states.join(", "), read.state);
  const date = (name: string) => optional(read[name], (value) => fields.date(value, `${path}.${name}`));
  const count = (name: string) =>
    optional(read[name], (value) => fields.count(value, `${path}.${name}`, many));
  const since = date("since");
  const until = date("until");
  const nextSchedule = date("nextSchedule");
  const launches = count("launches");
  const extensions = count("extensions");
  return {
    scope: fields.scope(read.scope, `${path}.scope`) ?? "cluster",
    state: state ?? "none",
    because: typeof read.because === "string" ? read.because : "",
    nodesHeld: count("nodesHeld") ?? 0,
    awaited: count("awaited") ?? 0,
    ...(typeof read.holdId === "string" && { holdId: read.holdId }),
    ...(since && { since }),
    ...(until && { until }),
    ...(nextSchedule && { nextSchedule }),
    ...(launches !== undefined && { launches }),
    ...(extensions !== undefined && { extensions }),
    ...(read.capped === true && { capped: true }),
    ...lengthIn(fields, read, path),
  };
}

/** A learned length; a holder without `hold=auto` answers none. */
function lengthIn(fields: Fields, read: Read, path: string): { length?: HoldLength } {
  if (read.length === undefined) return {};
  const length = fields.object(read.length, `${path}.length`);
  const action = (["default", "learned", "cautious"] as const).find((one) => one === length.action);
  const duration = (name: string) => fields.count(length[name], `${path}.length.${name}`, many);
  return {
    length: {
      length: duration("length"),
      action: action ?? "learned",
      because: textOf(length.because),
      atHalfCost: duration("atHalfCost"),
      atDoubleCost: duration("atDoubleCost"),
    },
  };
}

/** Reads the answer to `history`. */
export const parseHistory = (answer: unknown): readonly PastHold[] =>
  reading((fields) => {
    const read = fields.object(answer, "the answer");
    return fields.list(read.holds, "holds", (item, path) => parsePastHold(fields, item, path));
  });

function parsePastHold(fields: Fields, item: unknown, path: string): PastHold {
  const read = fields.object(item, path);
  return {
    id: fields.text(read.id, `${path}.id`),
    scope: fields.scope(read.scope, `${path}.scope`) ?? "cluster",
    startedAt: fields.date(read.startedAt, `${path}.startedAt`),
    expiresAt: fields.date(read.expiresAt, `${path}.expiresAt`),
    endedAt: fields.date(read.endedAt, `${path}.endedAt`),
    startedBecause: textOf(read.startedBecause),
    endedBecause: textOf(read.endedBecause),
    launches: fields.count(read.launches, `${path}.launches`, many),
    extensions: fields.count(read.extensions, `${path}.extensions`, many),
    nodes: fields.count(read.nodes, `${path}.nodes`, many),
    capped: read.capped === true,
    ...lengthIn(fields, read, path),
    ...(read.causes !== undefined && { causes: parseCauses(fields, read.causes, `${path}.causes`) }),
  };
}

function parseCauses(fields: Fields, item: unknown, path: string): Causes {
  const read = fields.object(item, path);
  const launches = Object.entries(fields.object(read.launches ?? {}, `${path}.launches`));
  const counts = launches.map(([pool, count]) => [
    pool,
    fields.count(count, `${path}.launches.${pool}`, many),
  ]);
  const wishes = (["hand", "event", "window"] as const).flatMap((wish) =>
    typeof read[wish] === "string" ? [[wish, read[wish]]] : [],
  );
  return {
    ...(counts.length > 0 && { launches: Object.fromEntries(counts) }),
    ...(typeof read.uses === "number" && { uses: read.uses }),
    ...Object.fromEntries(wishes),
  };
}

/** What came of a action: how many nodes, until when, and why. */
export type ActionAnswer = Readonly<{
  because: string;
  until?: Date;
  holdId?: string;
  counts: Readonly<Partial<Record<"marked" | "userHeld" | "released" | "kept" | "failed", number>>>;
  left: boolean;
  resumed: readonly string[];
}>;

/** Reads the answer to a action. */
export const parseUserAction = (answer: unknown): ActionAnswer =>
  reading((fields) => {
    const read = fields.object(answer, "the answer");
    const until = optional(read.until, (value) => fields.date(value, "until"));
    return {
      because: fields.text(read.because, "because"),
      counts: countsIn(read),
      left: read.left === true,
      resumed: Array.isArray(read.resumed) ? read.resumed.map(textOf) : [],
      ...(until && { until }),
      ...(typeof read.holdId === "string" && { holdId: read.holdId }),
    };
  });

function countsIn(read: Read): ActionAnswer["counts"] {
  const names = ["marked", "userHeld", "released", "kept", "failed"] as const;
  return Object.fromEntries(
    names.flatMap((name) => (typeof read[name] === "number" ? [[name, read[name]]] : [])),
  );
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const optional = <T>(value: unknown, read: (value: unknown) => T): T | undefined =>
  value === undefined || value === null ? undefined : read(value);

/** An answer that cannot be read is no fault of what was typed. */
export function reading<T>(read: (fields: Fields) => T): T {
  try {
    const fields = new Fields("The control function's answer is not understood");
    const answer = read(fields);
    fields.end();
    return answer;
  } catch (error) {
    if (!(error instanceof BadInputError)) throw error;
    throw new Failure(error.message, "Its version may be another than this command line's: run doctor.");
  }
}
