import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Cluster } from "@kubernetes/client-node";
import * as v from "valibot";
import { limitedText } from "../../lambda/kubernetes/transport.ts";

const moment = v.pipe(v.string(), v.toDate());

/*
{ "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": { "token": "…" } }
*/
const credential = v.object({
  status: v.object({
    token: v.optional(v.pipe(v.string(), v.regex(/^[\x21-\x7e]+$/))),
    clientCertificateData: v.optional(v.string()),
    clientKeyData: v.optional(v.string()),
    expirationTimestamp: v.fallback(v.optional(moment), undefined),
  }),
});

const program = v.object({
  apiVersion: v.optional(v.string()),
  provideClusterInfo: v.nullish(v.boolean(), false),
  installHint: v.nullish(v.string(), ""),
  command: v.string(),
  args: v.nullish(v.array(v.string()), []),
  env: v.nullish(v.array(v.object({ name: v.string(), value: v.string() })), []),
});

type Options = Readonly<{ cluster: Cluster; env: NodeJS.ProcessEnv; signal: AbortSignal }>;

/** Runs a program as kubectl does; the signal kills it. */
export async function credentialsOf(exec: unknown, options: Options) {
  const printed = await outputOf(v.parse(program, exec), options);
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), credential), printed);
  if (!success) throw new SyntaxError("no credentials");
  return output.status;
}

const mostPrinted = 1024 * 1024;

function outputOf(
  { apiVersion, command, args, env, provideClusterInfo, installHint }: v.InferOutput<typeof program>,
  { cluster, env: own, signal }: Options,
): Promise<string> {
  signal.throwIfAborted();
  const about = provideClusterInfo ? { cluster: infoOf(cluster) } : {};
  const info = { apiVersion, kind: "ExecCredential", spec: { ...about, interactive: false } };
  const given = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  // A group of its own, which can be killed with all that the program has started.
  const child = spawn(command, args, {
    env: { ...own, KUBERNETES_EXEC_INFO: JSON.stringify(info), ...given },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const kill = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      child.kill("SIGKILL");
    }
    child.stdout.destroy();
    child.stderr.destroy();
  };
  process.once("exit", kill);
  signal.addEventListener("abort", kill);
  return new Promise<string>((resolve, reject) => {
    const stderr = limitedText(child.stderr, mostPrinted).catch(() => "");
    const stdout = limitedText(child.stdout, mostPrinted).catch(() => {
      kill();
      reject(new Error(`${command} printed more than credentials are long`));
      return "";
    });
    child.once("error", ({ message }) => reject(new Error(`${message} ${installHint}`.trim())));
    child.once("close", async (code, killedBy) => {
      if (code === 0) return resolve(await stdout);
      // Not the arguments, which may be secret.
      reject(new Error((await stderr).trim() || `${command} ended with ${code ?? killedBy}`));
    });
  }).finally(() => {
    process.off("exit", kill);
    signal.removeEventListener("abort", kill);
  });
}

/** What the program learns about the cluster, in the form of a kubeconfig. */
const infoOf = ({ server, caData, caFile, skipTLSVerify, tlsServerName, proxyUrl }: Cluster) => ({
  server,
  "certificate-authority-data": caData ?? (caFile && readFileSync(caFile).toString("base64")),
  "insecure-skip-tls-verify": skipTLSVerify || undefined,
  "tls-server-name": tlsServerName,
  "proxy-url": proxyUrl,
});
