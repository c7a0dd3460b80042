import { closeSync, fchmodSync, fstatSync, lstatSync, openSync, rmSync, writeFileSync } from "node:fs";

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

/** Fails where no file can be written, before the work for it begins; a file that is there stays as it is. */
export function checkWritable(path: string): void {
  const isNew = lstatSync(path, { throwIfNoEntry: false }) === undefined;
  closeSync(openSync(path, "a", 0o600));
  if (isNew) rmSync(path);
}
