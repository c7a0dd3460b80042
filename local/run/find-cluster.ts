import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { BadInputError } from "../../lambda/core/errors.ts";
import { readKubeconfig } from "./kubeconfig.ts";

export type ClusterChoice = Readonly<{
  /** The kubeconfig's path, if one is given. */
  path?: string | undefined;
  context?: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  home?: string;
  /** Where Kubernetes mounts the service account of a Pod. */
  serviceAccount?: string;
}>;

/** The context of a Pod's service account, which no kubeconfig has. */
export const podContext = "in-cluster";

/** The login to the cluster: the given kubeconfig, else those that kubectl would use, else the Pod's service account. */
export function findCluster({ path, context, env, ...places }: ClusterChoice): KubeConfig {
  const { home = homedir(), serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount" } = places;
  const atHome = [join(home, ".kube", "config")].filter(existsSync);
  const paths = path === undefined ? (fromEnvironment(env) ?? atHome) : [path];
  if (paths.length > 0) return readKubeconfig({ paths, context });
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" } = env;
  if (host && existsSync(join(serviceAccount, "token"))) return inCluster(host, port, serviceAccount);
  throw new BadInputError("No cluster was found", [
    "name a kubeconfig with --kubeconfig, or set KUBECONFIG: there is no ~/.kube/config, and this is not a Pod with a service account",
  ]);
}

/** Missing files are passed over, as kubectl does, unless all are missing. */
function fromEnvironment({ KUBECONFIG = "" }: ClusterChoice["env"]): readonly string[] | undefined {
  const named = KUBECONFIG.split(delimiter).filter(Boolean);
  if (named.length === 0) return undefined;
  const there = named.filter((file) => existsSync(file));
  return there.length > 0 ? there : named;
}

/** The token is read again from its file when it expires: Kubernetes renews it there. */
function inCluster(host: string, port: string, folder: string): KubeConfig {
  const name = podContext;
  const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const authProvider = { name: "tokenFile", config: { tokenFile: join(folder, "token") } };
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name, server, caFile: join(folder, "ca.crt"), skipTLSVerify: false }],
    users: [{ name, authProvider }],
    contexts: [{ name, cluster: name, user: name }],
    currentContext: name,
  });
  return config;
}
