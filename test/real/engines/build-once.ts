import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { formatDuration } from "../../../lambda/core/duration.ts";
import { isAlive } from "./process-table.ts";
import { go } from "./tools.ts";

/** All builds are in this ignored folder; worktrees may share one with KNH_BUILD. */
export const buildFolder = resolve(process.env.KNH_BUILD ?? join(import.meta.dirname, "../../../build"));

const stamps = join(buildFolder, "built");
const log = (line: string) => process.stderr.write(`${line}\n`);

/** Builds unless the same inputs were built before; logs what it builds and how long it took. */
export async function once(
  name: string,
  inputs: readonly string[],
  build: () => Promise<void>,
): Promise<void> {
  const wanted = hashOf(inputs);
  const stamp = join(stamps, name);
  const isBuilt = () => existsSync(stamp) && readFileSync(stamp, "utf8") === wanted;
  if (isBuilt()) return;
  mkdirSync(stamps, { recursive: true });
  mkdirSync(join(buildFolder, "bin"), { recursive: true });
  await withLock(name, async () => {
    if (isBuilt()) return; // another process built it meanwhile
    await logTime(name, build);
    writeFileSync(stamp, wanted);
  });
}

/** Builds the Go program of a folder beside this file; returns its path. */
export async function buildChecker(name: "cel" | "hcl"): Promise<string> {
  const folder = join(import.meta.dirname, name);
  const program = join(buildFolder, "bin", `check-${name}`);
  const sources = globSync("*", { cwd: folder }).sort();
  await once(name, [import.meta.filename, ...sources.map((file) => join(folder, file))], async () => {
    await go(["-C", folder, "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "."]);
  });
  return program;
}

function hashOf(inputs: readonly string[]): string {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}`);
  for (const input of inputs) hash.update(readFileSync(input));
  return hash.digest("hex");
}

async function logTime(name: string, build: () => Promise<void>): Promise<void> {
  log(`building ${name} (once; minutes with a cold cache) …`);
  const began = performance.now();
  await build();
  log(`  built ${name} in ${formatDuration(performance.now() - began)}`);
}

/** Only one process at a time builds a part; the others wait for it. */
async function withLock(name: string, work: () => Promise<void>): Promise<void> {
  const lock = join(stamps, `${name}.lock`);
  for (let isReported = false; !take(lock); isReported = true) {
    if (!isReported) log(`waiting for another process that builds ${name} …`);
    await sleep(500);
  }
  try {
    await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    if (!isHeld(lock)) rmSync(lock, { force: true });
    return false;
  }
}

/** A lock does not count when the process that took it has ended. */
function isHeld(lock: string): boolean {
  try {
    const owner = Number(readFileSync(lock, "utf8"));
    // The file is empty for a moment after it was created.
    return owner === 0 || isAlive(owner);
  } catch {
    return false; // it was released meanwhile
  }
}
