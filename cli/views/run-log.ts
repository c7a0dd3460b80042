import type { Fields, Log } from "../../lambda/core/ports.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { version } from "../../lambda/version.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { absolute } from "../terminal/text.ts";

type Level = "info" | "warn" | "error";

const logOf = (write: (level: Level, sentence: string, fields: Fields) => void): Log => ({
  info: (sentence, fields = {}) => write("info", sentence, fields),
  warn: (sentence, fields = {}) => write("warn", sentence, fields),
  error: (sentence, fields = {}) => write("error", sentence, fields),
});

/** One JSON line a fact, in the form of the functions' logs. */
export const jsonLog = ({ out }: Terminal, cluster: string): Log =>
  logOf((level, message, fields) => {
    const line = { level: level.toUpperCase(), message, timestamp: systemClock.now(), cluster, version };
    const values = Object.entries(fields).map(([name, value]) => [name, plain(value)]);
    out(JSON.stringify({ ...line, ...Object.fromEntries(values) }));
  });

/** One line a fact, for people: when, what, and then the particulars. From its second day on, times have their date. */
export const textLog = ({ out, style }: Terminal): Log => {
  const begun = systemClock.now();
  return logOf((level, sentence, fields) => {
    const present = Object.entries(fields).filter(([, value]) => value !== undefined);
    const particulars = present.map(([name, value]) => `${name}=${brief(value, begun)}`).join(" ");
    const dressed =
      level === "error" ? style("red", sentence) : level === "warn" ? style("yellow", sentence) : sentence;
    const at = absolute(systemClock.now(), begun);
    out(`${style("dim", at)} ${dressed}${particulars && ` ${style("dim", particulars)}`}`);
  });
};

function brief(value: unknown, begun: Date): string {
  if (value instanceof Date) return absolute(value, begun);
  if (value instanceof Error) return JSON.stringify(reasonOf(value));
  return typeof value === "string" && /^[\w./:-]+$/.test(value) ? value : JSON.stringify(value);
}

const plain = (value: unknown): unknown =>
  value instanceof Error ? { name: value.name, message: reasonOf(value) } : value;

/** An error and what lies behind it, without a stack. */
function reasonOf(error: Error): string {
  const { message, cause } = error;
  return cause instanceof Error && !message.includes(cause.message)
    ? `${message}: ${reasonOf(cause)}`
    : message;
}
