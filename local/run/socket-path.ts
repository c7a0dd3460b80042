import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The longest path of a socket, in bytes, that every kernel accepts. */
const longest = 100;

/** The socket of a running holder. */
export const controlSocketIn = (folder: string): string => join(folder, "control.sock");

/** A path that the kernel accepts: a long one goes through a link in a temporary folder of our own. */
export async function withShortPath<T>(folder: string, work: (socket: string) => Promise<T>): Promise<T> {
  const path = controlSocketIn(folder);
  if (Buffer.byteLength(path) <= longest) return work(path);
  const temporary = await mkdtemp(join(tmpdir(), "karpenter-node-holder-"));
  try {
    const link = join(temporary, "data");
    await symlink(resolve(folder), link);
    return await work(controlSocketIn(link));
  } finally {
    await rm(temporary, { recursive: true });
  }
}
