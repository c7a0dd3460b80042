import { saidBy } from "./checks/answered.ts";
import type { Finding } from "./finding.ts";

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
      notify(`Fixed: ${action}.`);
    } catch (error) {
      notify(`Could not ${action}: ${saidBy(error)}`);
    }
  }
  return done > 0;
}
