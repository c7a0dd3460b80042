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

/** The login to the cluster: the given kubeconfig, else the one that kubectl would use, else the Pod's service account. */
export function findCluster({ path, context, env, ...places }: ClusterChoice): KubeConfig {
  const { home = homedir(), serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount" } = places;
  const file = path ?? fromEnvironment(env) ?? existing(join(home, ".kube", "config"));
  if (file !== undefined) return readKubeconfig({ path: file, context });
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" } = env;
  if (host && existsSync(join(serviceAccount, "token"))) return inCluster(host, port, serviceAccount);
  throw new BadInputError("No cluster was found", [
    "name a kubeconfig with --kubeconfig, or set KUBECONFIG: there is no ~/.kube/config, and this is not a Pod with a service account",
  ]);
}

function fromEnvironment({ KUBECONFIG = "" }: ClusterChoice["env"]): string | undefined {
  const [file, ...more] = KUBECONFIG.split(delimiter).filter(Boolean);
  if (more.length === 0) return file;
  throw new BadInputError("This kubeconfig cannot be used", [
    "KUBECONFIG names several files, which are not merged here: name one with --kubeconfig",
  ]);
}

const existing = (file: string): string | undefined => (existsSync(file) ? file : undefined);

/** The token is read again from its file when it expires: Kubernetes renews it there. */
function inCluster(host: string, port: string, folder: string): KubeConfig {
  const name = "in-cluster";
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
