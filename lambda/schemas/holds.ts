import * as v from "valibot";
import { fields, list } from "./parse.ts";
import { holdId, moment, scope, wholeNumber } from "./values.ts";

/** The fields of holds that stored records and answers share. */

export const anyText = v.string("text");
export const flag = v.boolean("true or false");
export const count = wholeNumber();

export const requestCause = v.picklist(["person", "event", "window"], "person, event or window");
export const holdState = v.picklist(["held", "releasing"], "held or releasing");

export const observed = fields({
  removed: count,
  evicted: count,
  uncounted: count,
  nodeTime: count,
  relaunched: count,
});

/** With `hold=auto`, what a hold has cost and spared. */
const autoEntries = {
  superfluous: count,
  letGo: count,
  spared: count,
  // Holds of the first days have no such number.
  evictionsSpared: v.optional(count, 0),
};
export const autoFigures = fields(autoEntries);

/** What history reports of a hold. */
export const figureEntries = {
  launches: v.record(v.string(), count, "a map"),
  extensions: count,
  nodes: count,
  capped: flag,
  requests: list(anyText, 100),
  ...autoEntries,
  observed: v.exactOptional(observed),
};

export const pastHold = fields({
  scope,
  id: holdId(),
  startedAt: moment,
  startedBecause: anyText,
  ...figureEntries,
  endedAt: moment,
  endedBecause: anyText,
});

export const probeAnswer = fields({
  id: anyText,
  sentAt: moment,
  queuedAt: moment,
  answeredAt: moment,
  version: anyText,
});
