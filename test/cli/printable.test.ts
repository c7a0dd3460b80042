import { styleText } from "node:util";
import { expect, it, vi } from "vitest";
import { printable, processTerminal } from "../../cli/terminal/terminal.ts";
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

it("prints to the process's streams, replaces the last line only in a terminal, and ends when its reader has", () => {
  vi.spyOn(process, "exit").mockImplementation(() => {
    throw new Error("the process ends");
  });
  const written: unknown[] = [];
  for (const name of ["stdout", "stderr"] as const)
    vi.spyOn(process[name], "write").mockImplementation((text) => written.push([name, text]) > 0);
  const { stdout, stderr } = process;
  const [isTTY, columns, before] = [stderr.isTTY, stderr.columns, stdout.isTTY];
  try {
    Object.assign(stdout, { isTTY: true });
    Object.assign(stderr, { isTTY: false, columns: 6 });
    expect(processTerminal().rewrite).toBeUndefined();
    Object.assign(stderr, { isTTY: true });
    const terminal = processTerminal();
    terminal.out("a\x07b");
    terminal.notify("c\x07d");
    terminal.rewrite?.("123456\x07");
    expect(written).toEqual([
      ["stdout", "a\ufffdb\n"],
      ["stderr", "c\ufffdd\n"],
      ["stderr", "\r\x1b[K12345"],
    ]);
    expect([terminal.isWatched, terminal.env]).toEqual([true, process.env]);
    Object.assign(stdout, { isTTY: false });
    expect([processTerminal().isWatched, terminal.style("red", "x")]).toEqual([false, "x"]);
    const closed = Object.assign(new Error("closed"), { code: "EPIPE" });
    expect(() => stdout.emit("error", closed)).toThrow("the process ends");
    expect(() => stderr.emit("error", new Error("another"))).toThrow("another");
  } finally {
    Object.assign(stdout, { isTTY: before });
    Object.assign(stderr, { isTTY, columns });
    for (const stream of [stdout, stderr]) stream.removeAllListeners("error");
    vi.restoreAllMocks();
  }
});
