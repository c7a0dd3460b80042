import { messageOf } from "../../../lambda/core/errors.ts";

const unreadable = "doctor cannot read the answer";

/** Text in an AWS answer, or undefined; proxies and emulators do not always answer by AWS's types. */
export function textIn(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new TypeError(unreadable);
  return value;
}

/** A number that AWS returns as text; 0 if there is none. */
export function countIn(value: unknown): number {
  const text = textIn(value) ?? "0";
  if (!/^\d{1,15}$/.test(text)) throw new TypeError(unreadable);
  return Number(text);
}

/** An error's message; a TypeError over an answer's shape has no useful one. */
export function saidBy(error: unknown): string {
  const isOfShape = error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError;
  return isOfShape ? unreadable : messageOf(error);
}
