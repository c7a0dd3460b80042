import type { HoldLength } from "../core/auto/decide-hold-length.ts";
import { nothingLearned } from "../core/auto/learned.ts";
import { readLearned } from "../core/auto/learned-text.ts";
import type { Causes, Hold, PastHold, RememberedReplacement, ScopeRecord } from "../core/holds/hold.ts";
import type { ProbeAnswer } from "../core/ports.ts";
import { parseScope, type Scope } from "../core/scope.ts";
import type { Fields, StoredFields } from "./stored-fields.ts";

/** Reads a scope's record; `name` is the scope it was found under. */
export function readRecord(fields: StoredFields): ScopeRecord {
  return {
    scope: readScope(fields, "name"),
    version: fields.count("version"),
    ...(fields.has("hold") && { hold: readHold(fields.within("hold")) }),
    ...(fields.has("lastLaunchAt") && { lastLaunchAt: fields.moment("lastLaunchAt") }),
    ...(fields.has("launchesCountFrom") && { launchesCountFrom: fields.moment("launchesCountFrom") }),
    ...(fields.has("quiet") && { quiet: fields.choice("quiet", ["paused", "breather"]) }),
    ...(fields.has("quietSince") && { quietSince: fields.moment("quietSince") }),
    ...(fields.has("quietBecause") && { quietBecause: fields.text("quietBecause") }),
    ...(fields.has("learned") && { learned: readLearned(fields.text("learned")) ?? nothingLearned }),
    ...(fields.has("replacements") && { replacements: readReplacements(fields.within("replacements")) }),
    ...(fields.has("forced") && { forced: readForced(fields.within("forced")) }),
  };
}

/** Keyed by instance, because a map costs less than a list of maps. */
export const storedReplacements = (replacements: readonly RememberedReplacement[]): Fields =>
  Object.fromEntries(
    replacements.map(({ instance, launchedAt, nodeClaim }) => [instance, { launchedAt, nodeClaim }]),
  );

const readReplacements = (fields: StoredFields): RememberedReplacement[] =>
  fields.names().map((instance) => {
    const one = fields.within(instance);
    const nodeClaim = one.has("nodeClaim") && { nodeClaim: one.text("nodeClaim") };
    return { instance, launchedAt: one.moment("launchedAt"), ...nodeClaim };
  });

const readForced = (fields: StoredFields) => ({ id: fields.text("id"), at: fields.moment("at") });

function readHold(fields: StoredFields): Hold {
  return {
    ...readStory(fields),
    state: fields.choice("state", ["held", "releasing"]),
    causedAt: fields.moment("causedAt"),
    ...(fields.has("endsBecause") && { endsBecause: fields.text("endsBecause") }),
    ...(fields.has("burstFrom") && { burstFrom: fields.moment("burstFrom") }),
    ...(fields.has("armedFor") && { armedFor: fields.moment("armedFor") }),
    ...(fields.has("unprotected") && { unprotected: fields.flag("unprotected") }),
  };
}

export function readPastHold(fields: StoredFields): PastHold {
  return {
    ...readStory(fields),
    scope: readScope(fields, "scope"),
    endedAt: fields.moment("endedAt"),
    endedBecause: fields.text("endedBecause"),
  };
}

export function readProbe(fields: StoredFields): ProbeAnswer {
  return {
    id: fields.text("id"),
    sentAt: fields.moment("sentAt"),
    queuedAt: fields.moment("queuedAt"),
    answeredAt: fields.moment("answeredAt"),
    version: fields.text("version"),
  };
}

const readStory = (fields: StoredFields) => ({
  id: fields.text("id"),
  startedAt: fields.moment("startedAt"),
  startedBecause: fields.text("startedBecause"),
  expiresAt: fields.moment("expiresAt"),
  launches: fields.count("launches"),
  extensions: fields.count("extensions"),
  nodes: fields.count("nodes"),
  capped: fields.flag("capped"),
  ...(fields.has("causes") && { causes: readCauses(fields.within("causes")) }),
  ...(fields.has("length") && { length: readLength(fields.within("length")) }),
});

const readLength = (fields: StoredFields): HoldLength => ({
  length: fields.count("length"),
  action: fields.choice("action", ["default", "learned", "cautious"]),
  because: fields.text("because"),
  atHalfCost: fields.count("atHalfCost"),
  atDoubleCost: fields.count("atDoubleCost"),
});

function readCauses(fields: StoredFields): Causes {
  const launches = fields.has("launches") ? fields.within("launches") : undefined;
  const counts = launches?.names().map((nodePool) => [nodePool, launches.count(nodePool)] as const);
  return {
    ...(counts && { launches: Object.fromEntries(counts) }),
    ...(fields.has("uses") && { uses: fields.count("uses") }),
    ...(fields.has("usedAt") && { usedAt: fields.moment("usedAt") }),
    ...(fields.has("hand") && { hand: fields.text("hand") }),
    ...(fields.has("event") && { event: fields.text("event") }),
    ...(fields.has("window") && { window: fields.text("window") }),
  };
}

export const readScope = (fields: StoredFields, name: string): Scope =>
  parseScope(fields.text(name)) ?? fields.refuse(name, '"cluster" or "nodepool/NAME"');
