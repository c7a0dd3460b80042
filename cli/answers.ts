import * as v from "valibot";
import { BadInputError } from "../lambda/core/errors.ts";
import type { PastHold } from "../lambda/core/holds/hold.ts";
import { anyText, count, flag, holdLength, pastHold } from "../lambda/schemas/holds.ts";
import { anyObject, fields, list, parse } from "../lambda/schemas/parse.ts";
import { moment, scope } from "../lambda/schemas/values.ts";
import { Failure } from "./terminal/failure.ts";

/** One item a NodePool, node or hold. */
export const many = 100_000;

/** Reads a holder's answer. One that cannot be read is not caused by what was typed. */
export function parseAnswer<S extends v.GenericSchema>(schema: S, answer: unknown): v.InferOutput<S> {
  try {
    return parse("The holder's answer is not understood", schema, answer, "the answer");
  } catch (error) {
    if (!(error instanceof BadInputError)) throw error;
    throw new Failure(
      error.message,
      "Its version may be another than this command line's: use the same for both.",
    );
  }
}

const scopeStatus = fields({
  scope,
  state: v.picklist(
    ["none", "held", "releasing", "paused", "breather"],
    "none, held, releasing, paused or breather",
  ),
  because: anyText,
  nodesHeld: count,
  // A holder of 0.1 names none.
  nodes: v.optional(list(anyText), []),
  awaited: count,
  holdId: v.exactOptional(anyText),
  since: v.exactOptional(moment),
  until: v.exactOptional(moment),
  nextSchedule: v.exactOptional(moment),
  launches: v.exactOptional(count),
  extensions: v.exactOptional(count),
  capped: v.exactOptional(flag),
  length: v.exactOptional(holdLength),
});

const status = fields({
  cluster: anyText,
  at: moment,
  version: anyText,
  rules: fields({
    hold: count,
    maxHold: count,
    breather: count,
    initialDelay: count,
    scope: anyText,
    auto: v.exactOptional(anyObject),
  }),
  scopes: list(scopeStatus, many),
  nodesUserHeld: count,
  lastSweep: v.exactOptional(moment),
  // A holder of an earlier version knows none.
  limits: v.optional(list(anyText), []),
});

/** A status as a holder returns it, with dates. */
export type StatusAnswer = Readonly<v.InferOutput<typeof status>>;

/** Reads the answer to `status`. */
export const parseStatus = (answer: unknown): StatusAnswer => parseAnswer(status, answer);

const history = fields({ holds: list(pastHold) });

/** Reads the answer to `history`. */
export const parseHistory = (answer: unknown): readonly PastHold[] => parseAnswer(history, answer).holds;

const action = fields({
  because: anyText,
  until: v.exactOptional(moment),
  holdId: v.exactOptional(anyText),
  marked: v.exactOptional(count),
  userHeld: v.exactOptional(count),
  released: v.exactOptional(count),
  kept: v.exactOptional(count),
  failed: v.exactOptional(count),
  left: v.optional(flag, false),
  resumed: v.optional(list(anyText, many), []),
});

/** What an action did: how many nodes it changed, until when, and why. */
export type ActionAnswer = Readonly<v.InferOutput<typeof action>>;

/** Reads the answer to an action. */
export const parseUserAction = (answer: unknown): ActionAnswer => parseAnswer(action, answer);
