import { closeSync, fchmodSync, fstatSync, openSync, writeFileSync } from "node:fs";

/** Writes a file that only its owner may read, also where a file is already. A device such as /dev/stdout keeps its mode. */
export function writePrivateFile(path: string, text: string): void {
  const file = openSync(path, "w", 0o600);
  try {
    if (fstatSync(file).isFile()) fchmodSync(file, 0o600);
    writeFileSync(file, text);
  } catch (error) {
    // Node names it only where it cannot be opened.
    throw Object.assign(Object(error), { path });
  } finally {
    closeSync(file);
  }
}
