import { saidBy } from "./checks/answered.ts";
import type { Finding } from "./finding.ts";

/** Does what may be done without harm; tells each deed, and which failed. True when anything was done. */
export async function mend(findings: readonly Finding[], tell: (line: string) => void): Promise<boolean> {
  const deeds = new Map(findings.flatMap(({ fix }) => (fix ? [[fix.deed, fix.apply] as const] : [])));
  if (deeds.size === 0) {
    tell("There is nothing that can be mended from here.");
    return false;
  }
  let done = 0;
  for (const [deed, apply] of deeds) {
    try {
      await apply();
      done += 1;
      tell(`Mended: ${deed}.`);
    } catch (error) {
      tell(`Could not ${deed}: ${saidBy(error)}`);
    }
  }
  return done > 0;
}
