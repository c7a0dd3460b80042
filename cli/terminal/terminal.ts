import { styleText } from "node:util";
import { printable } from "./printable.ts";

type Style = Parameters<typeof styleText>[0];

/** Where a command reads from and writes to. */
export type Terminal = Readonly<{
  env: Readonly<Record<string, string | undefined>>;
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
  return {
    env: process.env,
    out: (line) => process.stdout.write(`${printable(line)}\n`),
    notify: (line) => process.stderr.write(`${printable(line)}\n`),
    ...(process.stderr.isTTY && {
      rewrite: (line: string) => process.stderr.write(`\r\u001b[K${oneLine(line)}`),
    }),
    isWatched: process.stdout.isTTY === true,
    style: (style, text) => styleText(style, text, { stream: process.stdout }),
  };
}

/** A longer line would wrap, and a wrapped line cannot be replaced. */
const oneLine = (line: string): string => printable(line).slice(0, (process.stderr.columns || 80) - 1);

/** From now on the reader of a pipe may end: Ctrl-C ends `tee` first, and the work at the end must still be done. */
export function outliveReader(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.off("error", endWithReader).on("error", () => {});
}

/** `head` has read enough: that is no failure. */
function endWithReader(error: Error): void {
  if ("code" in error && error.code === "EPIPE") process.exit();
  throw error;
}
