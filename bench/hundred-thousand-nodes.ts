import { fork } from "node:child_process";
import { once } from "node:events";
import type { ClusterAccess } from "../lambda/adapters/cluster-login.ts";
import { Karpenter } from "../lambda/adapters/keys.ts";
import { KubernetesClient } from "../lambda/adapters/kubernetes-client.ts";
import { KubernetesNodes } from "../lambda/adapters/kubernetes-nodes.ts";
import { after, minutes, seconds } from "../lambda/core/duration.ts";
import { wholeCluster } from "../lambda/core/scope.ts";
import { ClusterStandIn } from "../local/cluster-stand-in.ts";

// Marks and releases 100,000 nodes as a function would, one deadline after the other, and tells its memory.
// The holder is a process of its own, whose heap is kept as small as a function's; the stand-in is not counted.
const count = Number(process.argv[2] ?? 100_000);
const goal = 256;
const smallHeap = ["--max-old-space-size=160", "--max-semi-space-size=4"];

if (process.send) await measure(await hearAccess());
else await serveCluster();

async function serveCluster(): Promise<void> {
  const standIn = await ClusterStandIn.start();
  const joinedAt = new Date(Date.now() - minutes(120));
  const labels = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [`example.com/label-${i}`, `a-value-of-some-length-${i}`]),
  );
  const annotations = { "example.com/note": "x".repeat(1_000) };
  for (let i = 0; i < count; i++) {
    const name = `ip-10-0-${i >> 8}-${i & 255}.eu-west-1.compute.internal`;
    standIn.addNode({
      name,
      labels: { ...labels, [Karpenter.v1.poolLabel]: "default" },
      annotations,
      joinedAt,
    });
  }
  const holder = fork(import.meta.filename, process.argv.slice(2), { execArgv: smallHeap });
  holder.send(standIn.access());
  const [code] = await once(holder, "exit");
  await standIn.stop();
  process.exitCode = code;
}

async function hearAccess(): Promise<ClusterAccess> {
  const [access] = await once(process, "message");
  return access;
}

async function measure(access: ClusterAccess): Promise<void> {
  const clock = { now: () => new Date() };
  const log = { info: () => {}, warn: console.warn, error: console.error };
  const metrics = { add: () => {} };
  const login = { access: async () => access, refresh: () => {} };
  const api = new KubernetesClient({ login, clock, metrics });
  const { poolLabel, annotation } = Karpenter.v1;
  const about = { poolLabel, annotation, nodePools: { only: [], except: [] } };
  const nodes = new KubernetesNodes({ api, ...about, clock, log, metrics });

  let peak = 0;
  const watching = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 50);
  const began = performance.now();
  let invocations = 0;
  let marked = 0;
  let released = 0;
  for (let left = true; left; invocations++) {
    const result = await nodes.mark(wholeCluster, "hold-1", after(clock.now(), seconds(20)));
    marked += result.marked;
    left = result.left;
  }
  for (let left = true; left; invocations++) {
    const result = await nodes.release("hold-1", after(clock.now(), seconds(20)));
    released += result.released;
    left = result.left;
  }
  const took = (performance.now() - began) / 1_000;
  clearInterval(watching);
  await api.close();
  process.disconnect();

  const megabytes = Math.round(peak / 1024 / 1024);
  console.log(`nodes                     ${count}`);
  console.log(
    `marked, released          ${marked}, ${released}, in ${invocations} invocations of at most 20 s`,
  );
  console.log(`time                      ${took.toFixed(0)} s, the stand-in on the same cores`);
  console.log(`peak memory of the holder ${megabytes} MB (goal: at most ${goal} MB)`);
  process.exitCode = megabytes <= goal && marked === count && released === count ? 0 : 1;
}
