import * as v from "valibot";
import type { CheckAnswer } from "../../lambda/core/operate/check.ts";
import { anyText, count, flag, holdState } from "../../lambda/schemas/holds.ts";
import { fields, list } from "../../lambda/schemas/parse.ts";
import { moment, scope } from "../../lambda/schemas/values.ts";
import type { Settings } from "../../lambda/settings.ts";
import { many, reading, rules } from "../answers.ts";

/** One link of the chain as the functions saw it: what it showed, or why it does not work. */
const link = <E extends v.ObjectEntries>(entries: E) =>
  v.variant(
    "works",
    [fields({ works: v.literal(true), ...entries }), fields({ works: v.literal(false), because: anyText })],
    "true or false",
  );

const presentHold = fields({
  scope,
  id: anyText,
  state: holdState,
  until: moment,
  nextLook: v.exactOptional(moment),
});

const trial = v.picklist(["admitted", "refused", "not tried"], "admitted, refused or not tried");
const keptNodes = list(fields({ node: anyText, since: moment, by: v.exactOptional(anyText) }), many);

/** What a function saw from inside. Doctor also judges by settings on which no decision depends. */
export type Inside = CheckAnswer &
  Readonly<{ version: string; rules: Pick<Settings, "sweepEvery" | "nodeEvents"> }>;

/** Reads the answer to `check`. */
export const parseInside = reading<Inside>(
  fields({
    version: anyText,
    at: moment,
    rules: fields({ ...rules.entries, sweepEvery: count, nodeEvents: flag }),
    record: link({
      holds: list(presentHold, many),
      pauses: list(fields({ scope, since: moment, until: moment, because: anyText }), many),
      lastSweep: v.exactOptional(moment),
    }),
    write: link({}),
    launches: v.exactOptional(link({ recent: count })),
    cluster: link({
      kubernetes: anyText,
      missingRights: list(anyText),
      needlessRights: list(anyText),
      foreignChange: trial,
      ownChange: trial,
      said: v.exactOptional(anyText),
      nodes: count,
      stuck: keptNodes,
      userHeld: keptNodes,
      ineffective: list(fields({ node: anyText, value: anyText }), many),
    }),
  }),
);
