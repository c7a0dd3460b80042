import * as v from "valibot";
import { noBursts } from "../core/auto/bursts.ts";
import { type BadInputError, BrokenSetupError } from "../core/errors.ts";
import type { PastHold, RememberedReplacement, ScopeRecord } from "../core/holds/hold.ts";
import type { ProbeAnswer } from "../core/ports.ts";
import { readBursts } from "../schemas/bursts.ts";
import { anyText, count, flag, holdEntries, holdState, pastHold, probeAnswer } from "../schemas/holds.ts";
import { fields, parse } from "../schemas/parse.ts";
import { moment, scope } from "../schemas/values.ts";
import type { Fields, StoredItem } from "./item-table.ts";

const hold = fields({
  ...holdEntries,
  state: holdState,
  causedAt: moment,
  endsBecause: v.exactOptional(anyText),
  burstFrom: v.exactOptional(moment),
  joined: v.exactOptional(v.literal(true, "true")),
  burstNodes: v.exactOptional(count),
  kept: v.exactOptional(count),
  keptAt: v.exactOptional(moment),
  narrowsAt: v.exactOptional(moment),
  marksFrom: v.exactOptional(moment),
  askedUntil: v.exactOptional(moment),
  armedFor: v.exactOptional(moment),
  unprotected: v.exactOptional(flag),
});
/** Keyed by instance, because a map costs less than a list of maps. */
const replacements = v.pipe(
  v.record(v.string(), fields({ launchedAt: moment, nodeClaim: v.exactOptional(anyText) }), "a map"),
  v.transform((map) =>
    Object.entries(map).map(([instance, one]): RememberedReplacement => ({ instance, ...one })),
  ),
);

const silence = fields({
  kind: v.picklist(["paused", "breather"], "paused or breather"),
  since: moment,
  because: anyText,
});

/** If it cannot be read, the scope learns again from the beginning. */
const learned = v.pipe(
  anyText,
  v.transform((written) => readBursts(written) ?? noBursts),
);

const firstTry = fields({ id: anyText, at: moment });

const record = fields({
  name: scope,
  version: count,
  hold: v.exactOptional(hold),
  lastLaunchAt: v.exactOptional(moment),
  launchesCountFrom: v.exactOptional(moment),
  quiet: v.exactOptional(silence),
  learned: v.exactOptional(learned),
  replacements: v.exactOptional(replacements),
  forced: v.exactOptional(firstTry),
  heldByHand: v.exactOptional(firstTry),
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
    return { scope: name.output, version, unreadable };
  }
}

export const storedReplacements = (list: readonly RememberedReplacement[]): Fields =>
  Object.fromEntries(
    list.map(({ instance, launchedAt, nodeClaim }) => [instance, { launchedAt, nodeClaim }]),
  );

export const readPastHold = (stored: StoredItem): PastHold => read(pastHold, stored);

export const readProbe = (stored: StoredItem): ProbeAnswer => read(probeAnswer, stored);

const lastSweep = fields({ at: moment });
export const readSweep = (stored: StoredItem): Readonly<{ at: Date }> => read(lastSweep, stored);

const forgetAt = fields({ forgetAt: count });
export const readForgetAt = (stored: StoredItem): number => read(forgetAt, stored).forgetAt;

function read<S extends v.GenericSchema>(schema: S, { item, where }: StoredItem): v.InferOutput<S> {
  try {
    return parse(where, schema, item, "the item");
  } catch (cause) {
    throw new BrokenSetupError(`${(cause as Error).message}. Delete this item.`, { cause });
  }
}
