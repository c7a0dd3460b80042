import { spawn } from "node:child_process";
import { closeSync, fchmodSync, fstatSync, openSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Writes a file that only its owner may read, also where a file is already. A device such as /dev/stdout keeps its mode. */
export function writePrivateFile(path: string, text: string): void {
  const file = openSync(path, "w", 0o600);
  try {
    if (fstatSync(file).isFile()) fchmodSync(file, 0o600);
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
}

/** A path for a page without a name. */
export const pageFile = async (name: string): Promise<string> =>
  join(await mkdtemp(join(tmpdir(), "karpenter-node-holder-")), name);

const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** Shows a file in the user's browser; false where there is none. */
export function openInBrowser(file: string): Promise<boolean> {
  const [command, ...args] = openers[process.platform] ?? ["xdg-open"];
  return new Promise((resolve) => {
    const child = spawn(command, [...args, file], { detached: true, stdio: "ignore" });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
