import * as v from "valibot";
import { BadInputError } from "../lambda/core/errors.ts";
import type { PastHold } from "../lambda/core/holds/hold.ts";
import { anyText, count, flag, pastHold } from "../lambda/schemas/holds.ts";
import { fields, list, openFields, parse } from "../lambda/schemas/parse.ts";
import { moment, scope } from "../lambda/schemas/values.ts";
import { Failure } from "./terminal/failure.ts";
import { allReadable } from "./terminal/text.ts";

/** One item a NodePool, node or hold. */
export const many = 100_000;

/** Reads a holder's answer. One that cannot be read is not caused by what was typed. */
export function parseAnswer<S extends v.GenericSchema>(schema: S, answer: unknown): v.InferOutput<S> {
  try {
    return parse("The holder's answer is not understood", schema, allReadable(answer), "the answer");
  } catch (error) {
    if (!(error instanceof BadInputError)) throw error;
    throw new Failure(
      error.message,
      "Its version may be another than this command line's: use the same for both.",
    );
  }
}

/** Reads answers of this form. */
const reading =
  <S extends v.GenericSchema>(schema: S) =>
  (answer: unknown): Readonly<v.InferOutput<S>> =>
    parseAnswer(schema, answer);

const scopeStatus = fields({
  scope,
  state: v.picklist(
    ["none", "held", "releasing", "paused", "breather"],
    "none, held, releasing, paused or breather",
  ),
  because: anyText,
  nodesHeld: count,
  nodes: list(anyText),
  awaited: count,
  holdId: v.exactOptional(anyText),
  since: v.exactOptional(moment),
  until: v.exactOptional(moment),
  nextSchedule: v.exactOptional(moment),
  launches: v.exactOptional(count),
  extensions: v.exactOptional(count),
  capped: v.exactOptional(flag),
  lengths: v.exactOptional(list(anyText)),
});

const status = fields({
  cluster: anyText,
  at: moment,
  version: anyText,
  rules: openFields({
    hold: count,
    maxHold: count,
    breather: count,
    initialDelay: count,
    scope: anyText,
    auto: flag,
    relaunchCost: count,
    nodePools: v.exactOptional(fields({ only: list(anyText), except: list(anyText) })),
  }),
  scopes: list(scopeStatus, many),
  nodesUserHeld: count,
  nodesOrphaned: v.exactOptional(count),
  lastSweep: v.exactOptional(moment),
  limits: list(anyText),
});

/** A status as a holder returns it, with dates. */
export type StatusAnswer = Readonly<v.InferOutput<typeof status>>;
export const parseStatus = reading(status);

const history = fields({ holds: list(pastHold) });

/** Reads the answer to `history`. */
export const parseHistory = (answer: unknown): readonly PastHold[] => parseAnswer(history, answer).holds;

/** Reads the answer to `hold`. */
export const parseHeld = reading(
  fields({ because: anyText, until: v.exactOptional(moment), marked: count, userHeld: count }),
);

const released = fields({
  because: anyText,
  until: v.exactOptional(moment),
  released: count,
  kept: count,
  failed: count,
  left: flag,
});

/** What a release or a pause did with the nodes, and until when a pause lasts. */
export type ReleasedAnswer = Readonly<v.InferOutput<typeof released>>;
export const parseReleased = reading(released);

/** Reads the answer to `resume`. */
export const parseResumed = reading(fields({ because: anyText, resumed: list(anyText, many) }));
