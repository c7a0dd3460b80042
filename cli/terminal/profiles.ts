import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { BadInputError } from "../../lambda/core/errors.ts";
import type { Terminal } from "./terminal.ts";

/** Refuses a profile that is in no file: the SDK would only say that it found no credentials. */
export function checkProfile(profile: string | undefined, env: Terminal["env"]): void {
  if (!profile) return;
  const inHome = (file: string) => join(homedir(), ".aws", file);
  const known = new Set([
    ...profilesIn(env.AWS_CONFIG_FILE || inHome("config"), /^\s*\[\s*(?:profile\s+)?"?([^\]"]+?)"?\s*\]/gm),
    ...profilesIn(env.AWS_SHARED_CREDENTIALS_FILE || inHome("credentials"), /^\s*\[\s*([^\]]+?)\s*\]/gm),
  ]);
  if (known.has(profile)) return;
  const names = [...known].filter((name) => !/^(sso-session|services)\s/.test(name)).sort();
  throw new BadInputError("These flags cannot be used", [
    `there is no AWS profile ${profile} (there are: ${names.join(", ") || "none"})`,
  ]);
}

function profilesIn(file: string, heading: RegExp): readonly string[] {
  try {
    return [...readFileSync(file, "utf8").matchAll(heading)].map(([, name = ""]) => name);
  } catch {
    return [];
  }
}
