import { homedir } from "node:os";
import { basename, dirname } from "node:path";
import { styleText } from "node:util";
import { holderName } from "../../lambda/core/marks/keys.ts";

/** How a command ended: success, failure, wrong usage, or with the answer no: not held, or not yet. */
export const Exit = { done: 0, failed: 1, usage: 2, no: 3 } as const;
export type Exit = (typeof Exit)[keyof typeof Exit];

type Style = Parameters<typeof styleText>[0];

/** Where a command reads from and writes to. */
export type Terminal = Readonly<{
  env: Readonly<Record<string, string | undefined>>;
  /** How a person calls this program, where that is not its own name: what it prints can then be typed. */
  calledAs?: string;
  /** What the command is asked for; pipes read it. */
  out: (line: string) => void;
  /** Messages for people, on stderr. */
  notify: (line: string) => void;
  /** Replaces the last line of stderr; undefined where it is not a terminal. */
  rewrite?: (line: string) => void;
  /** Whether `out` is a terminal. */
  isWatched: boolean;
  /** Styles text where colours are wanted. */
  style: (style: Style, text: string) => string;
}>;

/** The terminal of this process; colours only where it is one, and never against NO_COLOR. */
export function processTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", endWithReader);
  giveHome(process.env);
  return {
    env: process.env,
    calledAs: calledAs(process.argv[1]),
    out: (line) => process.stdout.write(`${printable(line)}\n`),
    notify: (line) => process.stderr.write(`${printable(line)}\n`),
    ...(process.stderr.isTTY && {
      rewrite: (line: string) => process.stderr.write(`\r\u001b[K${oneLine(line)}`),
    }),
    isWatched: process.stdout.isTTY === true,
    style: (style, text) => styleText(style, text, { stream: process.stdout }),
  };
}

/** Some accounts have none, as in containers; Node and the SDK of AWS would fail when they look for it. */
export function giveHome(env: NodeJS.ProcessEnv, home = homedir): void {
  try {
    home();
  } catch {
    env.HOME = "/";
  }
}

/** By the link to this program that was started: kubectl and krew have one, and so has npx. */
export function calledAs(path = ""): string {
  if (basename(path).startsWith("kubectl-")) return `kubectl ${holderName}`;
  return basename(dirname(path)) === ".bin" ? `npx ${holderName}` : holderName;
}

/** A longer line would wrap, and a wrapped line cannot be replaced. */
const oneLine = (line: string): string => printable(line).slice(0, (process.stderr.columns || 80) - 1);

/** From now on the reader of a pipe may end: Ctrl-C ends `tee` first, and the work at the end must still be done. */
function outliveReader(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.off("error", endWithReader).on("error", () => {});
}

/** `head` has read enough: that is no failure. */
function endWithReader(error: Error): void {
  if ("code" in error && error.code === "EPIPE") process.exit();
  process.stderr.write(`error: the output cannot be written: ${error.message}\n`);
  process.exit(Exit.failed);
}

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

/** Settles on the first signal to stop; the second ends the process at once. A closed pipe does not stop it. */
export function untilStopped(onSecond = () => {}): Promise<NodeJS.Signals> {
  outliveReader();
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(signal, () => {
        process.on(signal, () => {
          onSecond();
          process.exit(Exit.failed);
        });
        resolve(signal);
      });
    }
  });
}
