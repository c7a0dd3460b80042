import { readdir } from "node:fs/promises";
import { connect } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { withShortPath } from "../../local/run/socket-path.ts";
import { Failure } from "../terminal/failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { quoted } from "../terminal/text.ts";

/** Where each `run` has a folder, unless --data names another. */
export const dataFolder = ({ XDG_DATA_HOME }: Terminal["env"]): string =>
  join(XDG_DATA_HOME || join(homedir(), ".local", "share"), "karpenter-node-holder");

/** The folder of the only `run` at work, among those with the default folder. */
export async function onlyRunFolder(env: Terminal["env"]): Promise<string> {
  const root = dataFolder(env);
  const names = await readdir(root).catch(() => []);
  const listening = await Promise.all(
    names
      .map((name) => join(root, name))
      .map(async (folder) => ((await isListening(folder)) ? [folder] : [])),
  );
  const [folder, ...more] = listening.flat();
  if (folder === undefined)
    throw new Failure(
      `no \`run\` is at work with a folder in ${root}`,
      "Start it, or name the folder of its --data: --run FOLDER.",
    );
  if (more.length === 0) return folder;
  const each = [folder, ...more].map((one) => `--run ${quoted(one)}`).join(", or ");
  throw new Failure("more than one `run` is at work on this machine", `Name one: ${each}.`);
}

const isListening = (folder: string): Promise<boolean> =>
  withShortPath(
    folder,
    (socket) =>
      new Promise((resolve) => {
        const connection = connect(socket, () => {
          connection.destroy();
          resolve(true);
        }).once("error", () => resolve(false));
      }),
  );
