import * as v from "valibot";
import { fields } from "./parse.ts";
import { holdId, moment, scope, wholeNumber } from "./values.ts";

/** The fields of holds that stored records and answers share. */

export const anyText = v.string("text");
export const flag = v.boolean("true or false");
export const count = wholeNumber();

const causes = fields({
  launches: v.exactOptional(v.record(v.string(), count, "a map")),
  uses: v.exactOptional(count),
  usedAt: v.exactOptional(moment),
  hand: v.exactOptional(anyText),
  event: v.exactOptional(anyText),
  window: v.exactOptional(anyText),
});

/** How long a hold lasts where that is learned. */
const holdLength = fields({
  length: count,
  action: v.picklist(["default", "learned", "cautious"], "default, learned or cautious"),
  because: anyText,
});

/** The fields that a hold has from its start until history. */
export const holdEntries = {
  id: holdId(),
  startedAt: moment,
  startedBecause: anyText,
  expiresAt: moment,
  launches: count,
  extensions: count,
  nodes: count,
  capped: flag,
  causes,
  length: v.exactOptional(holdLength),
  idleTime: v.exactOptional(count),
  spared: v.exactOptional(count),
  letGo: v.exactOptional(count),
};

export const holdState = v.picklist(["held", "releasing"], "held or releasing");

export const pastHold = fields({ ...holdEntries, scope, endedAt: moment, endedBecause: anyText });

export const probeAnswer = fields({
  id: anyText,
  sentAt: moment,
  queuedAt: moment,
  answeredAt: moment,
  version: anyText,
});
