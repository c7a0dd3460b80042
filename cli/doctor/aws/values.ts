const unreadable = "the answer cannot be read";

/** Text in an AWS answer, or "" without any; proxies and emulators do not always answer by AWS's types. */
export function textIn(value: unknown): string {
  const text = value ?? "";
  if (typeof text !== "string") throw new TypeError(unreadable);
  return text;
}

/** A number that AWS returns as text; 0 if there is none. */
export function countIn(value: unknown): number {
  const text = textIn(value ?? "0");
  if (!/^\d{1,15}$/.test(text)) throw new TypeError(unreadable);
  return Number(text);
}

/** What JSON in an answer has; undefined where it is none. */
export function jsonIn(value: unknown): unknown {
  try {
    return JSON.parse(textIn(value));
  } catch {
    return undefined;
  }
}
