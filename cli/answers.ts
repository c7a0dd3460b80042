import * as v from "valibot";
import { BadInputError } from "../lambda/core/errors.ts";
import type { HoldAnswer } from "../lambda/core/operate/hold.ts";
import type { pause, ReleaseAnswer, ResumeAnswer } from "../lambda/core/operate/release.ts";
import type { Status } from "../lambda/core/operate/status.ts";
import type { PastHold } from "../lambda/core/record.ts";
import type { Rules } from "../lambda/core/rules.ts";
import {
  anyText,
  autoFigures,
  count,
  flag,
  observed,
  pastHold,
  requestCause,
} from "../lambda/schemas/holds.ts";
import { fields, list, openFields, parse } from "../lambda/schemas/parse.ts";
import { moment, scope } from "../lambda/schemas/values.ts";
import { Failure } from "./terminal/failure.ts";
import { allReadable } from "./terminal/text.ts";

/** One item a NodePool, node or hold. */
export const many = 100_000;

/** Reads answers of type T by their schema. One that cannot be read is not caused by what was typed. */
export const reading =
  <T>(schema: v.GenericSchema<unknown, T>) =>
  (answer: unknown): T => {
    try {
      return parse("The holder's answer is not understood", schema, allReadable(answer), "the answer");
    } catch (error) {
      if (!(error instanceof BadInputError)) throw error;
      const remedy = "Its version may be another than this command line's: use the same for both.";
      throw new Failure(error.message, remedy);
    }
  };

const mode = v.picklist(["hold", "observe"], "hold or observe");

/** A holder answers with all of its settings, also with those on which no decision depends; these stay as they are. */
export const rules = openFields({
  cluster: anyText,
  mode,
  hold: count,
  auto: flag,
  relaunchCost: count,
  evictionCost: count,
  maxHold: count,
  breather: count,
  maxRequest: count,
  initialDelay: count,
  scope: v.picklist(["cluster", "nodepool"], "cluster or nodepool"),
  nodePools: fields({ only: list(anyText), except: list(anyText) }),
  driftWait: count,
  holdAnnotation: anyText,
}) satisfies v.GenericSchema<unknown, Rules>;

const request = fields({ name: anyText, cause: requestCause, reason: anyText, since: moment, until: moment });

const verdict = fields({ name: anyText, isLetGo: flag, dueAt: v.exactOptional(moment), because: anyText });

const scopeStatus = fields({
  scope,
  state: v.picklist(
    ["none", "held", "releasing", "paused", "breather"],
    "none, held, releasing, paused or breather",
  ),
  because: anyText,
  holdId: v.exactOptional(anyText),
  since: v.exactOptional(moment),
  until: v.exactOptional(moment),
  launchesUntil: v.exactOptional(moment),
  requests: list(request),
  launches: count,
  extensions: count,
  capped: flag,
  nodesHeld: count,
  nodes: list(anyText),
  nodesObserved: v.exactOptional(count),
  observed: v.exactOptional(observed),
  drifted: count,
  goes: v.exactOptional(list(verdict)),
  paid: v.exactOptional(autoFigures),
  isAwaiting: flag,
  nextLook: v.exactOptional(moment),
});

/** A status as a holder returns it, with dates; a `run` that observes adds the command that holds. */
export type StatusAnswer = Status & Readonly<{ version: string; toHold?: string }>;

/** Reads the answer to `status`. */
export const parseStatus = reading<StatusAnswer>(
  fields({
    cluster: anyText,
    at: moment,
    version: anyText,
    toHold: v.exactOptional(anyText),
    rules,
    scopes: list(scopeStatus, many),
    nodesUserHeld: count,
    nodesOrphaned: v.exactOptional(count),
    lastSweep: v.exactOptional(moment),
    limits: list(anyText),
  }),
);

const parseHolds = reading<Readonly<{ holds: readonly PastHold[] }>>(fields({ holds: list(pastHold) }));

/** Reads the answer to `history`. */
export const parseHistory = (answer: unknown): readonly PastHold[] => parseHolds(answer).holds;

/** Reads the answer to `hold`. */
export const parseHeld = reading<HoldAnswer>(
  fields({
    name: anyText,
    holdId: v.exactOptional(anyText),
    since: v.exactOptional(moment),
    until: v.exactOptional(moment),
    heldUntil: v.exactOptional(moment),
    marked: count,
    userHeld: count,
    failed: count,
    left: flag,
    observed: v.exactOptional(v.literal(true, "true")),
    because: anyText,
  }),
);

const releasedEntries = {
  because: anyText,
  heldUntil: v.exactOptional(moment),
  released: count,
  kept: count,
  failed: count,
  left: flag,
};

/** Reads the answer to `release`. */
export const parseReleased = reading<ReleaseAnswer>(fields(releasedEntries));

/** Reads the answer to `pause`: the same, and until when it lasts. */
export const parsePaused = reading<Awaited<ReturnType<typeof pause>>>(
  fields({ ...releasedEntries, until: moment }),
);

/** Reads the answer to `resume`. */
export const parseResumed = reading<ResumeAnswer>(
  fields({
    because: anyText,
    resumed: list(scope, many),
    failed: count,
    left: flag,
    isPaused: v.exactOptional(v.literal(true, "true")),
  }),
);
