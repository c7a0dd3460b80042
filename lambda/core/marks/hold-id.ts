/**
 * The pattern of hold ids: when the hold started in UTC, and six letters or digits, like 20260131t093005-k3f9ax.
 * CEL reads this regular expression, too.
 */
export const holdIdPattern = "^[0-9]{8}t[0-9]{6}-[a-z0-9]{6}$";

const holdId = new RegExp(holdIdPattern);

export const isHoldId = (text: string | undefined): text is string => text !== undefined && holdId.test(text);

/** The id of a hold that starts now; ids sort by time. */
export const holdIdOf = (now: Date, suffix: string): string =>
  `${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, "").toLowerCase()}-${suffix}`;

/** The id for a hold that follows an older one. The ids of a scope only grow, also where clocks differ. */
export function youngerId(id: string, older: string | undefined): string {
  if (older === undefined || id > older) return id;
  return holdIdOf(new Date(startOf(older).getTime() + 1_000), id.slice(-6));
}

/** When a hold started, by its id. */
export function startOf(id: string): Date {
  const [, year, month, day, hour, minute, second] = parts.exec(id) ?? [];
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

const parts = /^(\d{4})(\d\d)(\d\d)t(\d\d)(\d\d)(\d\d)/;

/** The hold id of dry runs: younger than every hold's, and never a hold's, because its date does not exist. */
export const trialHoldId = "99999999t999999-dryrun";
