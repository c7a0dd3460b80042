import { lstat, readdir, stat } from "node:fs/promises";
import { makeFolder } from "../make-folder.ts";
import { StartError } from "./rights.ts";

/** Makes the folder of the record unless it is there. Others must not be able to put links to our other files in it. */
export async function makeDataFolder(folder: string): Promise<void> {
  makeFolder(folder, 0o700);
  const [problem, remedy] = (await problemWith(folder)) ?? [];
  if (problem)
    throw new StartError(
      `the folder ${folder} cannot keep the record: ${problem}`,
      `${remedy}, or choose another folder by --data.`,
    );
}

async function problemWith(folder: string): Promise<readonly [problem: string, remedy: string] | undefined> {
  const [named, { uid, gid, mode }] = [await lstat(folder), await stat(folder)];
  if (![named.uid, uid].every(isTrusted)) return ["it belongs to another user", "Use it as that user"];
  const others = gid === process.getegid?.() ? 0o002 : 0o022;
  if (process.getegid && mode & others)
    return ["others may write in it", "Take that right away (chmod go-w)"];
  const entries = await readdir(folder, { withFileTypes: true });
  const link = entries.find((entry) => entry.isSymbolicLink() && isOurs.test(entry.name));
  return link && [`its ${link.name} is a link, which is not followed`, "Remove the link"];
}

const isOurs = /^record\.sqlite/;

/** Root may do everything anyway. Windows has no such owners. */
const isTrusted = (uid: number): boolean => !process.geteuid || uid === 0 || uid === process.geteuid();
