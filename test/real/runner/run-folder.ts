import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { buildFolder } from "../engines/build-once.ts";
import { isAlive } from "../engines/process-table.ts";

/** Engines write only below this folder, one folder per run. Git ignores it. */
export const runsFolder = join(buildFolder, "runs");

const runsKept = 5;

/** Creates a folder for this run; the last few runs keep theirs, so that their logs can be read. */
export function freshRunFolder(): string {
  mkdirSync(runsFolder, { recursive: true });
  const age = (run: string) => statSync(join(runsFolder, run)).mtimeMs;
  const ended = readdirSync(runsFolder).filter((run) => !isAlive(Number(run)));
  for (const run of ended.sort((a, b) => age(b) - age(a)).slice(runsKept)) {
    rmSync(join(runsFolder, run), { recursive: true, force: true });
  }
  const folder = join(runsFolder, String(process.pid));
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Creates a folder for one engine: its data, its log, its temporary files. */
export function engineFolder(name: string): string {
  const run = process.env.KNH_RUN ?? join(runsFolder, String(process.pid));
  mkdirSync(run, { recursive: true });
  return mkdtempSync(join(run, `${name}-`));
}

/** Our environment without the variables that could lead an engine to a real account or cluster. */
export function engineEnvironment(folder: string): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(AWS_|CDK_|KUBECONFIG$)/.test(entry[0]),
  );
  return {
    ...Object.fromEntries(inherited),
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_EC2_METADATA_DISABLED: "true",
    NO_PROXY: "127.0.0.1,localhost",
    TMPDIR: folder,
    // The CDK would validate every template, for seconds; the suite "template" lets it.
    CDK_VALIDATION: "false",
    // Engines in Go clear their memory a third as often, which takes a tenth less time of two cores.
    GOGC: "300",
  };
}
