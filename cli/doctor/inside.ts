import * as v from "valibot";
import type { CheckAnswer } from "../../lambda/core/operate/check.ts";
import { anyText, count, holdState } from "../../lambda/schemas/holds.ts";
import { fields, list } from "../../lambda/schemas/parse.ts";
import { moment, scope } from "../../lambda/schemas/values.ts";
import { answering, many, reading, rules } from "../answers.ts";

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

const presentPause = fields({ scope, since: moment, until: moment, because: anyText });

const trial = v.picklist(["admitted", "refused", "not tried"], "admitted, refused or not tried");
const keptNode = fields({ node: anyText, since: moment, by: v.exactOptional(anyText) });

const findings = {
  kubernetes: anyText,
  missingRights: list(anyText),
  needlessRights: list(anyText),
  foreignChange: trial,
  ownChange: trial,
  said: v.exactOptional(anyText),
  nodes: count,
  stuck: list(keptNode, many),
  userHeld: list(keptNode, many),
  ineffective: list(fields({ node: anyText, value: anyText }), many),
};

const inside = answering<CheckAnswer & Readonly<{ version: string }>>()(
  fields({
    version: anyText,
    at: moment,
    rules,
    record: link({
      holds: list(presentHold, many),
      pauses: list(presentPause, many),
      lastSweep: v.exactOptional(moment),
    }),
    write: link({}),
    launches: v.exactOptional(link({ recent: count })),
    cluster: link(findings),
  }),
);

/** What a function saw from inside, as doctor reads it. */
export type Inside = Readonly<v.InferOutput<typeof inside>>;

/** Reads the answer to `check`. */
export const parseInside = reading(inside);
