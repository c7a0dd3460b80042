/**
 * The one grammar of hold ids: when the hold started in UTC, and six letters or digits, like 20260131t093005-k3f9ax.
 * Plain enough to be also a regular expression of CEL.
 */
export const holdIdPattern = "^[0-9]{8}t[0-9]{6}-[a-z0-9]{6}$";

const holdId = new RegExp(holdIdPattern);

export const isHoldId = (text: string | undefined): text is string => text !== undefined && holdId.test(text);

/** The id of a hold that starts now; ids sort by time. */
export const holdIdOf = (now: Date, suffix: string): string =>
  `${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, "").toLowerCase()}-${suffix}`;

/** For changes that are only tried and never written: no calendar has its date, so no hold ever has this id. */
export const trialHoldId = "00000000t000000-dryrun";
