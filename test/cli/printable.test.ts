import { styleText } from "node:util";
import { expect, it } from "vitest";
import { printable } from "../../cli/terminal/terminal.ts";
import { quoted, readable } from "../../cli/terminal/text.ts";

it.each([
  ["clears the screen", "a\x1b[H\x1b[2J"],
  ["writes to the clipboard", "\x1b]52;c;ZXZpbA==\x07"],
  ["sets the window's title", "\x9d0;evil\x9c"],
  ["goes back to the line's begin", "ok\rfail"],
  ["turns the text around", "a\u202eb\u2066c"],
])("shows no text that %s", (_, text) => {
  expect(printable(text)).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
});

it("quotes a word for a shell where that is needed, as in the commands that we print", () => {
  expect(["/data/a-b", "a b", "it's"].map(quoted)).toEqual(["/data/a-b", "'a b'", "'it'\\''s'"]);
});

it("keeps our colours, lines and every script", () => {
  const text = `${styleText("red", "błąd", { validateStream: false })}\n\tمرحبا 節点 –`;
  expect(printable(text)).toBe(text);
});

it.each([
  ["colours it", "\x1b[32mready\x1b[0m", "ready"],
  ["adds a line", "a\n✓ credentials  fine", "a ✓ credentials  fine"],
  ["turns the text around", "a\u202eb", "a b"],
])("makes one plain line of text from outside that %s", (_, text, plain) => {
  expect(readable(text)).toBe(plain);
});
