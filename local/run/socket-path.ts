import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** How many bytes of a socket's path every kernel takes. */
const longest = 100;

/** The socket over which a running holder answers. */
export const controlSocketIn = (folder: string): string => join(folder, "control.sock");

/** Passes on a path that a kernel takes: of a long one, through a link in a temporary folder of our own. */
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
