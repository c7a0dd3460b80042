import { fork } from "node:child_process";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { karpentersLabels } from "../../simulator/fake-ec2.ts";
import { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import { type Bench, count, type Figure, type Plot, type Size, sum } from "./figure.ts";

const plans: Readonly<Record<Size, readonly number[]>> = {
  whole: [1_000, 10_000, 30_000, 100_000],
  quick: [100, 1_000],
};
const limit = 256;

/** What the marking process reports at its end. */
export type Figures = Readonly<{ invocations: number; failed: number; peakMb: number }>;

type Run = Figures & Readonly<{ nodes: number; wrong: number }>;

/** Marks and releases 100,000 nodes in one process, cut short again and again as a function would be. */
export const manyNodes: Bench = {
  name: "many-nodes",
  title: "100,000 nodes of the stand-in, in pieces of a function's time",
  seconds: 90,
  async run(size, advance) {
    const sizes = plans[size];
    const runs: Run[] = [];
    const all = sum(sizes);
    for (const nodes of sizes) {
      advance(sum(runs.map((run) => run.nodes)) / all, `${count(nodes)} nodes`);
      runs.push(await markAndRelease(nodes));
    }
    const largest = runs.at(-1);
    return { figures: largest ? figuresOf(largest) : [], plots: [plotOf(runs, sizes)] };
  },
};

async function markAndRelease(nodes: number): Promise<Run> {
  const cluster = await FakeKubernetesServer.start();
  try {
    const joinedAt = new Date(Date.now() - 86_400_000);
    for (let i = 0; i < nodes; i++) {
      const labels = karpentersLabels("v1", "default");
      const providerId = `aws:///us-east-1a/i-${i.toString(16).padStart(17, "0")}`;
      cluster.addNode({ joinedAt, name: `node-${i}`, labels, providerId });
    }
    const { server, headers } = cluster.access();
    const reported = await inAnotherProcess({ server, token: headers.authorization ?? "" });
    const wrong = cluster.nodes().filter((node) => !isMarkedOnce(cluster, node.metadata.name)).length;
    return { ...reported, nodes, wrong };
  } finally {
    await cluster.stop();
  }
}

const figuresOf = ({ nodes, wrong, invocations, failed, peakMb }: Run): Figure[] => [
  {
    what: "peak memory of the process",
    value: `${Math.round(peakMb)} MB`,
    goal: `≤ ${limit} MB`,
    reached: peakMb <= limit,
  },
  {
    what: "nodes that were not marked once and released once",
    value: `${wrong} of ${count(nodes)}, after ${invocations} invocations, ${failed} failed patches`,
    goal: "0",
    reached: wrong === 0 && failed === 0,
  },
];

const plotOf = (runs: readonly Run[], sizes: readonly number[]): Plot => ({
  name: "memory",
  lines: {
    title: "Peak memory of marking and releasing",
    subtitle: "the whole process, its heap limited to 160 MB",
    x: { label: "nodes in the cluster" },
    y: { label: "peak memory", unit: "MB" },
    series: [
      { name: "peak", points: runs.map(({ nodes, peakMb }) => [nodes, Math.round(peakMb)] as const) },
      { name: "goal", points: [sizes[0] ?? 0, sizes.at(-1) ?? 0].map((nodes) => [nodes, limit] as const) },
    ],
  },
});

function isMarkedOnce(cluster: FakeKubernetesServer, name: string): boolean {
  return (
    cluster.annotationHistory(name, Karpenter.v1.annotation).join() === [undefined, "true", undefined].join()
  );
}

function inAnotherProcess(access: Readonly<{ server: string; token: string }>): Promise<Figures> {
  return new Promise((resolve, reject) => {
    const child = fork(`${import.meta.dirname}/many-nodes-process.ts`, [access.server, access.token], {
      // Without a limit Node collects its garbage late, and the figure would be the machine's.
      execArgv: ["--max-old-space-size=160", "--max-semi-space-size=4"],
    });
    child.once("message", (reported) => resolve(reported as Figures));
    child.once("error", reject);
    child.once("exit", (code) => code !== 0 && reject(new Error(`the marking process ended with ${code}`)));
  });
}
