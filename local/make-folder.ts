import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Makes a folder and those around it. Node's own way never ends where none can be made, as in /proc and automounted folders. */
export function makeFolder(folder: string, mode?: number): void {
  const around = dirname(folder);
  if (!existsSync(around)) makeFolder(around, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
