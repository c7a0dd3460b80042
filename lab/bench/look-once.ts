import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";
import { hours } from "../../lambda/core/duration.ts";
import { emptyRecord } from "../../lambda/core/record.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { accountOf, readView } from "../../lambda/core/view.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { readSettings } from "../../lambda/settings.ts";
import { systemClock as clock } from "../../lambda/system-clock.ts";
import { clusterPorts } from "../../local/holder/cluster-ports.ts";
import { kubeconfigLogin } from "../../local/run/kubeconfig-login.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { loadConfig } from "../../test/real/engines/control-plane.ts";
import { within } from "../../test/support/context.ts";

/*
 * Looks once at the cluster of a kubeconfig, and prints what that took. A second argument, `identity`, has the API server
 * send everything without compression.
 */

export type LookCost = Readonly<{
  nodes: number;
  pods: number;
  seconds: number;
  /** The most memory that this process had. */
  megabytes: number;
  /** What came over the connections. */
  bytes: number;
}>;

async function lookOnce(kubeconfig: string, encoding: string): Promise<LookCost> {
  const sockets = new Set<Socket>();
  subscribe("http.client.request.created", (message) => {
    const { request } = message as Readonly<{ request: ClientRequest }>;
    request.once("socket", (socket) => sockets.add(socket));
    if (encoding === "identity") request.removeHeader("accept-encoding");
  });
  const rules = readSettings({ cluster: "bench" });
  const metrics = { add: () => {} };
  const api = new KubernetesClient({ login: kubeconfigLogin(loadConfig(kubeconfig)), clock, metrics });
  const begun = performance.now();
  const ports = clusterPorts(rules, { api, clock, metrics });
  const context = { rules, ...ports, clock, metrics, log: new CollectedLog() };
  const view = await readView(Object({ ...context, ...within(hours(1)) }), wholeCluster, true);
  if ("error" in view) throw view.error;
  const { account } = accountOf(view, emptyRecord(wholeCluster), rules, clock.now());
  if (!account || !Array.isArray(view.pods)) throw new Error("no node was looked at");
  const seconds = (performance.now() - begun) / 1_000;
  const bytes = [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  await api.close();
  const megabytes = process.resourceUsage().maxRSS / 1_024;
  return { nodes: account.nodes, pods: view.pods.length, seconds, megabytes, bytes };
}

if (import.meta.main) {
  const [kubeconfig = "", encoding = "gzip"] = process.argv.slice(2);
  process.stdout.write(JSON.stringify(await lookOnce(kubeconfig, encoding)));
}
