import { messageOf } from "../../lambda/core/errors.ts";
import { readable } from "../terminal/text.ts";
import type { Finding } from "./finding.ts";

const longest = 1_000;

/** Names and messages come from outside, and are of any length. */
export function shown(text: string): string {
  const line = readable(text);
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

/** An error's message; a TypeError over an answer's shape has no useful one. */
export function saidBy(error: unknown): string {
  const isOfShape = error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError;
  return isOfShape ? "doctor cannot read the answer" : messageOf(error);
}

/** Applies the safe fixes and prints each result. True if any was applied. */
export async function applyFixes(
  findings: readonly Finding[],
  notify: (line: string) => void,
): Promise<boolean> {
  const actions = new Map(findings.flatMap(({ fix }) => (fix ? [[fix.action, fix.apply] as const] : [])));
  if (actions.size === 0) {
    notify("There is nothing to fix from here.");
    return false;
  }
  let done = 0;
  for (const [action, apply] of actions) {
    try {
      await apply();
      done += 1;
      notify(shown(`Fixed: ${action}.`));
    } catch (error) {
      notify(shown(`Could not ${action}: ${saidBy(error)}`));
    }
  }
  return done > 0;
}
