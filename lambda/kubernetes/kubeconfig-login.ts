import { execFile } from "node:child_process";
import type { RequestOptions } from "node:https";
import { createSecureContext } from "node:tls";
import { KubeConfig } from "@kubernetes/client-node";
import * as v from "valibot";
import { type Duration, formatDuration, minutes } from "../core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../core/errors.ts";
import { type ClusterAccess, type ClusterLogin, inTime, type Timer } from "./transport.ts";

/** A login may ask a person in a browser. */
const longest: Duration = minutes(1);

/** Logs in to the cluster of a kubeconfig: by token, by certificate, or by a program that it names. */
export function kubeconfigLogin(config: KubeConfig, timer?: Timer): ClusterLogin {
  let known: Promise<ClusterAccess> | undefined;
  const error = `The kubeconfig's user cannot log in: there was no answer within ${formatDuration(longest)}`;
  // All calls wait for the same login: one that never ended would stop them all.
  const limit = { most: longest, late: () => new TryAgainError(error), timer };
  return {
    access: () => {
      if (known) return known;
      const login = inTime((signal) => accessOf(config, signal), limit);
      known = login;
      login.catch(() => {
        if (known === login) known = undefined;
      });
      return login;
    },
    refresh: () => {
      known = undefined;
    },
  };
}

async function accessOf(config: KubeConfig, signal: AbortSignal): Promise<ClusterAccess> {
  const cluster = config.getCurrentCluster();
  if (!cluster)
    throw new BrokenSetupError("the kubeconfig names no current cluster: set its current-context");
  const { server } = cluster;
  if (!URL.canParse(server)) {
    const problem = `${JSON.stringify(server)} is not like https://10.0.0.1:6443`;
    throw new BrokenSetupError(`The cluster has no usable address: ${problem}`);
  }
  const { exec, ...user } = config.getCurrentUser() ?? { name: "" };
  const options: RequestOptions = {};
  // The library waits for a program without limit, and never runs it again while its token has not expired.
  const rest = new KubeConfig();
  rest.loadFromClusterAndUser(cluster, user);
  const logIn = async () => {
    await rest.applyToHTTPSOptions(options);
    return exec && (await credentialsOf(exec, signal));
  };
  const given = await logIn().catch((cause: unknown) => {
    throw new BrokenSetupError(`The kubeconfig's user cannot log in: ${reasonOf(cause)}`);
  });
  const { headers = {}, ca, rejectUnauthorized, servername, auth } = options;
  const { clientCertificateData: cert = options.cert, clientKeyData: key = options.key, token } = given ?? {};
  const all = { ca, cert, key, rejectUnauthorized, servername };
  const tls = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  refuseBroken(tls);
  const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
  const access = {
    server,
    tls,
    headers: {
      ...(auth && { authorization: `Basic ${Buffer.from(auth).toString("base64")}` }),
      ...(token && { authorization: `Bearer ${token}` }),
      ...Object.fromEntries(sent),
    },
  };
  refuseUnencrypted(access);
  return access;
}

/*
{ "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": { "token": "…" } }
*/
const credential = v.object({
  status: v.object({
    token: v.optional(v.pipe(v.string(), v.regex(/^[\x21-\x7e]+$/))),
    clientCertificateData: v.optional(v.string()),
    clientKeyData: v.optional(v.string()),
  }),
});

const program = v.object({
  apiVersion: v.optional(v.string()),
  command: v.string(),
  args: v.nullish(v.array(v.string()), []),
  env: v.nullish(v.array(v.object({ name: v.string(), value: v.string() })), []),
});

/** Runs a program as kubectl does; the signal kills it. */
async function credentialsOf(exec: unknown, signal: AbortSignal) {
  const printed = await outputOf(v.parse(program, exec), signal);
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), credential), printed);
  if (!success) throw new SyntaxError("no credentials");
  return output.status;
}

function outputOf(
  { apiVersion, command, args, env }: v.InferOutput<typeof program>,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  const info = { apiVersion, kind: "ExecCredential", spec: { interactive: false } };
  const given = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  const options = { env: { ...process.env, KUBERNETES_EXEC_INFO: JSON.stringify(info), ...given } };
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      if (!error) resolve(stdout);
      else if (error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER")
        reject(new Error(`${command} printed more than credentials are long`));
      else if (typeof error.code === "string") reject(error);
      // Not the error's own message, which shows the arguments.
      else reject(new Error(stderr.trim() || `${command} ended with ${error.code ?? error.signal}`));
    });
    child.stdin?.end();
    signal.addEventListener("abort", () => {
      child.kill("SIGKILL");
      // Its own children may keep the pipes open.
      child.stdout?.destroy();
      child.stderr?.destroy();
    });
  });
}

/** Reports the mistake at once; otherwise every connection would fail again and again. */
function refuseBroken(tls: ClusterAccess["tls"]): void {
  try {
    createSecureContext(tls);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BrokenSetupError(`A certificate or key of the kubeconfig cannot be used: ${reason}`, { cause });
  }
}

/** Refuses plain HTTP: anyone on the network could read the credentials. */
function refuseUnencrypted({ server, headers }: ClusterAccess): void {
  const url = URL.parse(server);
  if (!headers.authorization || url?.protocol !== "http:" || isLoopback(url.hostname)) return;
  throw new BrokenSetupError(
    `The kubeconfig has credentials for ${url.origin}, which would receive them unencrypted: use https://`,
  );
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host);

/** If a program printed something else than credentials, the parser's message would quote it. */
function reasonOf(cause: unknown): string {
  if (cause instanceof SyntaxError || cause instanceof TypeError)
    return "its exec or auth-provider gave no credentials as kubectl expects them";
  return (cause instanceof Error ? cause.message : String(cause)).slice(0, 1_000);
}
