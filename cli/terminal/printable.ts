/** Colours and weights: the only sequences for a terminal that we write ourselves. */
const style = `${String.fromCharCode(0x1b)}\\[[\\d;]*m`;
/** Characters that a terminal obeys, and those that change the direction of the text around them. */
const unprintable = "[^\\P{Cc}\\n\\t]|[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]";
const either = new RegExp(`(${style})|${unprintable}`, "gu");

/** Begins a text that takes the place of what is shown. */
export const clearScreen = "\u001b[H\u001b[2J";

/** Text that a terminal only shows: names and tags come from outside, and it would obey control characters in them. */
export function printable(text: string): string {
  if (text.startsWith(clearScreen)) return clearScreen + printable(text.slice(clearScreen.length));
  return text.replaceAll(either, (_, kept?: string) => kept ?? "\ufffd");
}
