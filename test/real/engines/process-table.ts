import { execFile } from "node:child_process";
import { promisify } from "node:util";

export type Row = Readonly<{ pid: number; parent: number; group: number; command: string }>;

/** All processes of this machine. */
export async function processTable(): Promise<Row[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-ww", "-o", "pid=,ppid=,pgid=,args="]);
  return stdout.split("\n").flatMap((line) => {
    const [, pid, parent, group, command = ""] = /^ *(\d+) +(\d+) +(\d+) (.*)$/.exec(line) ?? [];
    return pid ? [{ pid: Number(pid), parent: Number(parent), group: Number(group), command }] : [];
  });
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
