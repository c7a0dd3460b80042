import { messageOf } from "../../../lambda/core/errors.ts";

const unreadable = "what was answered is nothing that doctor can read";

/** Text of an AWS answer, undefined where there is none; its types are a promise that nobody keeps for proxies and emulators. */
export function textIn(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new TypeError(unreadable);
  return value;
}

/** A number that AWS tells as text; 0 where it tells none. */
export function countIn(value: unknown): number {
  const text = textIn(value) ?? "0";
  if (!/^\d{1,15}$/.test(text)) throw new TypeError(unreadable);
  return Number(text);
}

/** What an error says; what stumbles over an answer's shape says nothing to people. */
export function saidBy(error: unknown): string {
  const isOfShape = error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError;
  return isOfShape ? unreadable : messageOf(error);
}
