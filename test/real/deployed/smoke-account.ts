import { afterAll, beforeAll } from "vitest";
import type { Emulator } from "../emulator/emulator.ts";
import { Shell } from "../runner/shell.ts";
import { DeployedCluster } from "./cluster.ts";
import { DeployedWorld } from "./world.ts";

/** An account on which `npm run smoke` is tried, with a cluster named prod. */
export type SmokeAccount = Readonly<{
  emulator: Emulator;
  shell: Shell;
  cluster: DeployedCluster;
  /** The command; its table is on stdout, its progress on stderr. */
  command: (cluster: string, flags?: string) => string;
}>;

/** Starts the account before the tests of a suite, and stops it after them. */
export function useSmokeAccount(): () => SmokeAccount {
  let emulator: Emulator | undefined;
  let account: SmokeAccount | undefined;
  beforeAll(async () => {
    ({ emulator } = await DeployedWorld.start());
    const plane = await emulator.createCluster("prod");
    account = {
      emulator,
      shell: new Shell(emulator.folder, { ...emulator.env, CI: "true" }),
      cluster: new DeployedCluster(emulator, "prod", plane),
      command: (cluster, flags = "") =>
        `npm run smoke -- --cluster ${cluster} --yes --kubeconfig ${plane.kubeconfig()} ${flags} 2>&1`,
    };
  });
  afterAll(async () => {
    await account?.shell.stop();
    await emulator?.stop();
  });
  return () => {
    if (!account) throw new Error("the account was not started");
    return account;
  };
}

/** The rows of the table that it prints: verdict and assumption. */
export const rowsIn = (printed: string) =>
  (printed.split(/^ +ASSUMPTION .*\n/m)[1] ?? "")
    .split("\n")
    .map((line) => /^(ok|BROKEN) +(.+?)(?: {2,}|$)/.exec(line))
    .flatMap((row) => (row ? [{ verdict: row[1], assumption: row[2] }] : []));
