import { readdir } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { fingerprint } from "../../infra/names.ts";
import { limitedText } from "../../lambda/kubernetes/transport.ts";
import { withShortPath } from "../../local/run/socket-path.ts";
import type { RunFlags } from "../terminal/cluster-flags.ts";
import { Failure } from "../terminal/failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { quoted } from "../terminal/text.ts";
import { type ControlClient, giveUpAfter, holderFailed, parseJson } from "./client.ts";

const who = "the holder";

/** A `run` on this machine, over the socket in its data folder; without a folder, the only one at work. */
export async function runningHolder(flags: RunFlags, env: Terminal["env"]): Promise<ControlClient> {
  const folder = flags.run === true ? await onlyRunFolder(env, await serverOf(flags, env)) : flags.run;
  const ask: ControlClient["ask"] = async (payload, given) => {
    const signal = AbortSignal.any([AbortSignal.timeout(giveUpAfter), ...(given ? [given] : [])]);
    const { status, text } = await withShortPath(folder, (socket) =>
      post(socket, JSON.stringify(payload), signal),
    ).catch((error: unknown) => {
      throw unreachable(folder, error);
    });
    const answer = parseJson(who, text);
    if (status !== 200) throw holderFailed(who, answer, "The log of `run` says more.");
    return answer;
  };
  // In a Pod the chart has started it.
  const toHold: ControlClient["toHold"] = ({ toHold: again }) =>
    env.KUBERNETES_SERVICE_HOST
      ? "helm upgrade RELEASE CHART --reuse-values --set settings.mode=hold"
      : again
        ? `stop \`run\`, then start it by ${again}`
        : "start `run` again without --observe";
  return { ask, name: `run in ${folder}`, flags: `--run ${quoted(folder)}`, toHold };
}

type Answer = Readonly<{ status: number; text: string }>;

function post(socketPath: string, body: string, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    request({ socketPath, method: "POST", headers, signal, agent: false })
      .once("error", reject)
      .once("response", (response) => {
        const status = response.statusCode ?? 0;
        limitedText(response).then((text) => resolve({ status, text }), reject);
      })
      .end(body);
  });
}

/** Why a holder gave no answer, and what to do. */
function unreachable(folder: string, error: unknown): unknown {
  const code: unknown = Object(error).code;
  if (code === "ENOENT" || code === "ECONNREFUSED" || code === "ENOTDIR")
    return new Failure(
      `no \`run\` is at work with the data folder ${folder}`,
      "Start it, or name the folder of its --data: --run FOLDER. Without it, `run --release-only` releases what it left held.",
    );
  if (code === "EACCES")
    return new Failure(
      `the data folder ${folder} is another user's`,
      "Use the account under which `run` works.",
    );
  return error instanceof Error
    ? new Failure(`the holder did not answer (${error.message})`, "The log of `run` says more.")
    : error;
}

/** Where each `run` has a folder, unless --data names another. */
const dataFolder = ({ XDG_DATA_HOME }: Terminal["env"]): string =>
  join(XDG_DATA_HOME || join(homedir(), ".local", "share"), "karpenter-node-holder");

/** The default folder of one cluster; clusters of the same name have different addresses, and must not share a record. */
export const folderOf = (cluster: string, server: string, env: Terminal["env"]): string =>
  join(dataFolder(env), `${cluster}-${fingerprint(server)}`);

/** The address of the kubeconfig's cluster, where flags name one. */
async function serverOf({ kubeconfig, context }: RunFlags, env: Terminal["env"]) {
  if (kubeconfig === undefined && context === undefined) return undefined;
  const { findCluster } = await import("../../local/run/find-cluster.ts");
  return findCluster({ path: kubeconfig, context, env }).getCurrentCluster()?.server ?? "";
}

/** The folder of the only `run` at work, among those with the default folder; of those of one cluster where given. */
async function onlyRunFolder(env: Terminal["env"], server: string | undefined): Promise<string> {
  const root = dataFolder(env);
  const found = await readdir(root).catch(() => []);
  const names = found.filter((name) => server === undefined || name.endsWith(`-${fingerprint(server)}`));
  const listening = await Promise.all(
    names
      .map((name) => join(root, name))
      .map(async (folder) => ((await isListening(folder)) ? [folder] : [])),
  );
  const [folder, ...more] = listening.flat();
  if (folder === undefined)
    throw new Failure(
      `no \`run\` is at work ${server === undefined ? "" : `on ${server} `}with a folder in ${root}`,
      "Start it, or name the folder of its --data: --run FOLDER. One that is deployed is found by --cluster.",
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
