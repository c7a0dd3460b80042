import * as v from "valibot";
import { type BadInputError, BrokenSetupError } from "../core/errors.ts";
import { mostWatched, type Report } from "../core/observed.ts";
import type { ProbeAnswer } from "../core/ports.ts";
import { emptyRecord, type PastHold, type ScopeRecord } from "../core/record.ts";
import { mostRequests } from "../core/requests.ts";
import {
  anyText,
  count,
  figureEntries,
  observed,
  pastHold,
  probeAnswer,
  requestCause,
} from "../schemas/holds.ts";
import { fields, list, parse } from "../schemas/parse.ts";
import { holdId, moment, scope } from "../schemas/values.ts";
import type { StoredItem } from "./item-table.ts";
import { pauses } from "./stored-pauses.ts";

const ended = fields({ at: moment, because: anyText });
const watched = fields({
  nodes: v.record(v.string(), fields({ pods: v.exactOptional(count) }), "a map"),
  gone: list(moment, mostWatched),
});
const hold = fields({
  id: holdId(),
  startedAt: moment,
  because: anyText,
  ended: v.exactOptional(ended),
  watched: v.exactOptional(watched),
});

const request = fields({
  name: anyText,
  cause: requestCause,
  reason: anyText,
  at: moment,
  until: moment,
  releasedAt: v.exactOptional(moment),
});

const quiet = fields({
  kind: v.picklist(["paused", "breather"], "paused or breather"),
  since: moment,
  until: moment,
  because: anyText,
});

const account = fields({
  at: moment,
  nodes: count,
  pods: v.exactOptional(count),
  needed: v.exactOptional(count),
  pauses,
  wasted: v.record(v.string(), count, "a map"),
  letGo: v.record(v.string(), moment, "a map"),
  leftAlone: v.record(v.string(), moment, "a map"),
});

const record = fields({
  name: scope,
  version: count,
  hold: v.exactOptional(hold),
  closedId: v.exactOptional(holdId()),
  launchHold: v.exactOptional(
    fields({
      startedAt: moment,
      lastLaunchAt: moment,
      isConstant: v.exactOptional(v.literal(true, "true")),
      isEnding: v.exactOptional(v.literal(true, "true")),
    }),
  ),
  requests: list(request, mostRequests),
  quiet: v.exactOptional(quiet),
  released: v.exactOptional(fields({ at: moment, because: anyText, by: v.exactOptional(anyText) })),
  seen: v.record(v.string(), moment, "a map"),
  figures: fields(figureEntries),
  account: v.exactOptional(account),
  looks: fields({ oneShot: v.exactOptional(moment), message: v.exactOptional(moment) }),
});

/** Reads a scope's record. Of an unreadable one only scope and version are known, so that it can be written over. */
export function readRecord({ item, where }: StoredItem): ScopeRecord {
  try {
    const { name, ...rest } = parse(where, record, item, "the item");
    return { scope: name, ...rest };
  } catch (error) {
    const unreadable = (error as BadInputError).message;
    const name = v.safeParse(scope, item.name);
    if (!name.success) throw new BrokenSetupError(`${unreadable}. Delete this item.`, { cause: error });
    const version = typeof item.version === "number" && item.version >= 1 ? item.version : 0;
    return { ...emptyRecord(name.output), version, unreadable };
  }
}

export const readPastHold = (stored: StoredItem): PastHold => read(pastHold, stored);

export const readProbe = (stored: StoredItem): ProbeAnswer => read(probeAnswer, stored);

const lastSweep = fields({ at: moment });
export const readSweep = (stored: StoredItem): Readonly<{ at: Date }> => read(lastSweep, stored);

const report = fields({ at: moment, observed: v.optional(v.record(v.string(), observed, "a map"), {}) });
export const readReport = (stored: StoredItem): Report => read(report, stored);

const forgetAt = fields({ forgetAt: count });
export const readForgetAt = (stored: StoredItem): number => read(forgetAt, stored).forgetAt;

function read<S extends v.GenericSchema>(schema: S, { item, where }: StoredItem): v.InferOutput<S> {
  try {
    return parse(where, schema, item, "the item");
  } catch (cause) {
    throw new BrokenSetupError(`${(cause as Error).message}. Delete this item.`, { cause });
  }
}
