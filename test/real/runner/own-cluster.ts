import { createInterface } from "node:readline/promises";
import { KubeConfig } from "@kubernetes/client-node";
import { UsageError } from "./jobs.ts";

/** The kubeconfig of the user's own cluster, if it is set and the user agrees to write there. */
export async function ownCluster(names: readonly string[]): Promise<string | undefined> {
  const kubeconfig = process.env.KUBECONFIG;
  // Only the contracts can run there; the other suites break their cluster.
  if (!kubeconfig || names.join() !== "contracts") return undefined;
  const config = new KubeConfig();
  try {
    config.loadFromFile(kubeconfig);
  } catch (error) {
    throw new UsageError(`KUBECONFIG: ${error instanceof Error ? error.message : error}`);
  }
  const { server } = config.getCurrentCluster() ?? {};
  if (!server) throw new UsageError(`${kubeconfig} names no current cluster: set its current-context`);
  process.stderr.write(`KUBECONFIG is set, so the contracts would run on your cluster
  ${server} (context ${config.getCurrentContext()})
They create nodes that do not exist, mark them, and write the holder's ClusterRole, binding and admission policy;
in the end they remove all of it. Unset KUBECONFIG to run them on a control plane that is built here.
`);
  if (!(await agrees())) throw new UsageError("nothing was written");
  return kubeconfig;
}

async function agrees(): Promise<boolean> {
  if (process.env.KNH_YES === "1") return true;
  if (!process.stdin.isTTY) throw new UsageError("without a terminal, set KNH_YES=1 to agree");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question("Write there? [y/N] ");
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
