import { saidBy } from "./checks/answered.ts";
import type { Finding } from "./finding.ts";

/** Does what may be done without harm; tells each action, and which failed. True when anything was done. */
export async function mend(findings: readonly Finding[], notify: (line: string) => void): Promise<boolean> {
  const actions = new Map(findings.flatMap(({ fix }) => (fix ? [[fix.action, fix.apply] as const] : [])));
  if (actions.size === 0) {
    notify("There is nothing that can be mended from here.");
    return false;
  }
  let done = 0;
  for (const [action, apply] of actions) {
    try {
      await apply();
      done += 1;
      notify(`Mended: ${action}.`);
    } catch (error) {
      notify(`Could not ${action}: ${saidBy(error)}`);
    }
  }
  return done > 0;
}
