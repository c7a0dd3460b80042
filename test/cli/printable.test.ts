import { styleText } from "node:util";
import { expect, it, vi } from "vitest";
import { explainAwsError } from "../../cli/aws-errors.ts";
import { Failure, printFailure } from "../../cli/terminal/failure.ts";
import { printable, processTerminal } from "../../cli/terminal/terminal.ts";
import { about, quoted, readable, relative } from "../../cli/terminal/text.ts";
import { after, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { BadInputError, BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";

const bug = "This was not expected. Run again with DEBUG=1 to see where it happened, and please report it.";
const fixFirst = "Fix that first: until then the same command fails again.";
const mayPass = "This may pass: try again in a moment.";

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
  expect(["/data/a-b", "a b", "ab ", " ab", "it's"].map(quoted)).toEqual([
    ...["/data/a-b", "'a b'", "'ab '", "' ab'", "'it'\\''s'"],
  ]);
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
    expect(() => stderr.emit("error", new Error("another"))).toThrow("the process ends");
    expect(written.at(-1)).toEqual(["stderr", "error: the output cannot be written: another\n"]);
  } finally {
    Object.assign(stdout, { isTTY: before });
    Object.assign(stderr, { isTTY, columns });
    for (const stream of [stdout, stderr]) stream.removeAllListeners("error");
    vi.restoreAllMocks();
  }
});

it.each([
  [-seconds(5), "0s"],
  [minutes(10) - seconds(1), "9m59s"],
  [minutes(10) + seconds(20), "10m"],
  [hours(48) - minutes(1), "47h59m"],
  [hours(48), "2d"],
  [hours(50) + minutes(59), "2d2h"],
  [hours(24 * 10 - 1), "9d23h"],
  [hours(24 * 10 + 5), "10d"],
])("writes a duration of %i ms in its two largest parts, %s", (duration, text) => {
  expect(about(duration)).toBe(text);
});

it.each([
  [0, "now"],
  [999, "now"],
  [1_000, "in 1s"],
  [-1_000, "1s ago"],
])("says of a moment in %i ms that it is %s", (ahead, text) => {
  expect(relative(after(noon, ahead), noon)).toBe(text);
});

it.each([
  [new Failure("x", "Do this."), "Do this.", 1],
  [new BadInputError("x", ["y"]), "Nothing was changed. See `run --help`.", 2],
  [new BrokenSetupError("x"), fixFirst, 1],
  [new TryAgainError("x"), mayPass, 1],
  [new AggregateError([new TryAgainError("y"), new TryAgainError("z")], "y; z"), mayPass, 1],
  [new AggregateError([new TryAgainError("y"), new BrokenSetupError("z")], "y; z"), fixFirst, 1],
  [new AggregateError([], "x"), bug, 1],
  [Object.assign(new Error("x"), { syscall: "connect" }), bug, 1],
  [Object.assign(new Error("x"), { path: "/x" }), bug, 1],
])("says on a second line what to do after %s", (error, remedy, exit) => {
  for (const DEBUG of ["", "1"]) {
    const terminal = new CollectedTerminal({ DEBUG });
    expect(printFailure(error, terminal, "run")).toBe(exit);
    const lines = [`error: ${error.message}`, remedy, ...(DEBUG && exit === 1 ? [error.stack] : [])];
    expect(terminal.reported).toBe(lines.join("\n"));
  }
});

it("names a file and what is wrong with it, and to check the path", () => {
  const terminal = new CollectedTerminal({});
  const message = "ENOENT: no such file or directory, open '/x'";
  const error = Object.assign(new Error(message), { syscall: "open", path: "/x" });
  expect(printFailure(error, terminal, "run")).toBe(1);
  expect(terminal.reported).toBe("error: /x: no such file or directory\nCheck that path, or name another.");
});

it.each([
  [{ name: "ExpiredToken" }, "the AWS credentials have expired (x)"],
  [{ name: "AccessDeniedException" }, "x"],
  [{ name: "TimeoutError" }, "AWS could not be reached (x)"],
  [{ code: "ENOTFOUND" }, "AWS could not be reached (x)"],
  [{ message: "", code: "ECONNREFUSED" }, "AWS could not be reached (ECONNREFUSED)"],
  [{ code: "SELF_SIGNED_CERT_IN_CHAIN" }, "the certificate of AWS cannot be trusted (x)"],
  [{ message: "Region is missing" }, "no AWS region is set"],
  [{ message: "Region not accepted: a\nb" }, "Region not accepted: a"],
])("explains an error of AWS: %j", (about, message) => {
  const error = Object.assign(new Error("x"), about);
  expect(explainAwsError(error, "do this")).toMatchObject({ message, remedy: expect.any(String) });
});

it("leaves an error of another origin as it is, also one that only quotes AWS or a network", () => {
  const ofFunction = new Failure("GET /api/v1/nodes failed 8 times: connect ETIMEDOUT 10.0.0.1:443", "x");
  for (const error of [new Error("x"), new Error("it said: region not accepted"), ofFunction, "x"])
    expect(explainAwsError(error, "do this")).toBe(error);
});
