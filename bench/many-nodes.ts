import { fork } from "node:child_process";
import { Karpenter } from "../lambda/adapters/keys.ts";
import { ClusterStandIn } from "../local/cluster-stand-in.ts";
import type { Bench } from "./figure.ts";

const count = 100_000;
const limit = 256;

/** What the marking process tells at its end. */
export type Told = Readonly<{
  invocations: number;
  marked: number;
  released: number;
  failed: number;
  peakMb: number;
}>;

/** Marks and releases 100,000 nodes in one process, cut short again and again as a function would be. */
export const manyNodes: Bench = {
  name: "many-nodes",
  title: "100,000 nodes of the stand-in, in pieces of a function's time",
  async run() {
    const cluster = await ClusterStandIn.start();
    try {
      const joinedAt = new Date(Date.now() - 86_400_000);
      for (let i = 0; i < count; i++) {
        const labels = { [Karpenter.v1.poolLabel]: "default" };
        cluster.addNode({
          joinedAt,
          name: `node-${i}`,
          labels,
          providerId: `aws:///us-east-1a/i-${i.toString(16).padStart(17, "0")}`,
        });
      }
      const { server, headers } = cluster.access();
      const told = await inAnotherProcess({ server, token: headers.authorization ?? "" });
      const wrong = cluster.nodes().filter((node) => !isMarkedOnce(cluster, node.metadata.name)).length;
      return [
        {
          what: "peak memory of the process",
          value: `${Math.round(told.peakMb)} MB`,
          goal: `≤ ${limit} MB`,
          reached: told.peakMb <= limit,
        },
        {
          what: "nodes that were not marked once and released once",
          value: `${wrong} of ${count.toLocaleString("en")}, after ${told.invocations} invocations, ${told.failed} failed patches`,
          goal: "0",
          reached: wrong === 0 && told.failed === 0,
        },
      ];
    } finally {
      await cluster.stop();
    }
  },
};

function isMarkedOnce(cluster: ClusterStandIn, name: string): boolean {
  return (
    cluster.annotationHistory(name, Karpenter.v1.annotation).join() === [undefined, "true", undefined].join()
  );
}

function inAnotherProcess(access: Readonly<{ server: string; token: string }>): Promise<Told> {
  return new Promise((resolve, reject) => {
    const child = fork(`${import.meta.dirname}/many-nodes-process.ts`, [access.server, access.token], {
      // Without a limit Node collects its garbage late, and the figure would be the machine's.
      execArgv: ["--max-old-space-size=160", "--max-semi-space-size=4"],
    });
    child.once("message", (told) => resolve(told as Told));
    child.once("error", reject);
    child.once("exit", (code) => code !== 0 && reject(new Error(`the marking process ended with ${code}`)));
  });
}
