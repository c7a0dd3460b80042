import type { RequestOptions } from "node:https";
import { createSecureContext } from "node:tls";
import type { KubeConfig } from "@kubernetes/client-node";
import { BrokenSetupError } from "../core/errors.ts";
import type { ClusterAccess, ClusterLogin } from "./transport.ts";

/** Logs in to the cluster of a kubeconfig: by token, by certificate, or by a program that it names. */
export function kubeconfigLogin(
  config: Pick<KubeConfig, "getCurrentCluster" | "applyToHTTPSOptions">,
): ClusterLogin {
  let known: Promise<ClusterAccess> | undefined;
  const read = async (): Promise<ClusterAccess> => {
    const cluster = config.getCurrentCluster();
    if (!cluster)
      throw new BrokenSetupError("the kubeconfig names no current cluster: set its current-context");
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options).catch((cause: unknown) => {
      throw new BrokenSetupError(`The kubeconfig's user cannot log in: ${reasonOf(cause)}`);
    });
    const { headers = {}, ca, cert, key, passphrase, rejectUnauthorized, servername, auth } = options;
    const given = { ca, cert, key, passphrase, rejectUnauthorized, servername };
    const tls = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    refuseBroken(tls);
    const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
    const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString("base64")}` } : {};
    const access = { server: cluster.server, tls, headers: { ...basic, ...Object.fromEntries(sent) } };
    refuseUnencrypted(access);
    return access;
  };
  return {
    access: () => {
      known ??= read();
      known.catch(() => {
        known = undefined;
      });
      return known;
    },
    refresh: () => {
      known = undefined;
    },
  };
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
