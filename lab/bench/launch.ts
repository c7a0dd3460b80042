import { holdLabel } from "../../lambda/core/marks/keys.ts";
import type { CallTime } from "../../lambda/telemetry/call-times.ts";
import { kubeconfigLogin } from "../../local/run/kubeconfig-login.ts";
import { streamOf } from "../../local/run/watch-stream.ts";
import type { DeployedCluster } from "../../test/real/deployed/cluster.ts";
import { DeployedWorld } from "../../test/real/deployed/world.ts";
import { until } from "../../test/real/engines/processes.ts";
import { BareLoop } from "./bare-loop.ts";
import { type Bench, count, type Figure, median, ms, type Size } from "./figure.ts";
import { apiServerOf, createNodes, nodeNames } from "./nodes-on-plane.ts";

const nodes = 100;
const plans: Readonly<Record<Size, Readonly<{ rounds: number; launches: number }>>> = {
  whole: { rounds: 7, launches: 500 },
  quick: { rounds: 1, launches: 20 },
};

/** From a launch to the last mark, through bus, queue, function and cluster of the deployed stack. */
export const launch: Bench = {
  name: "launch",
  title: `From a launch to ${nodes} marked nodes, on the stack deployed to the emulator`,
  seconds: 150,
  async run(size, advance) {
    const { rounds, launches } = plans[size];
    // Only the delays that AWS documents; any other delay is not the holder's.
    const world = await DeployedWorld.start(["quiet-queues-wait"]);
    try {
      // Hourly, so that no sweep is in the way.
      const cluster = await world.cluster("bench", { hold: "10m", sweepEvery: "1h" });
      const loop = new BareLoop(apiServerOf(cluster.config), 16);
      await createNodes(loop, nodeNames(nodes));
      loop.close();
      const [cold, warm]: [Parts[], Parts[]] = [[], []];
      for (let round = 0; round < rounds; round++) {
        advance((round + 1) / (rounds + 2), `round ${round + 1} of ${rounds}`);
        await cluster.forceColdStart("hold");
        cold.push(await launchOnce(cluster));
        warm.push(await launchOnce(cluster));
      }
      return [...figuresOf(warm, cold), await burst(cluster, launches)];
    } finally {
      await world.stop();
    }
  },
};

const steps = {
  total: `launch to ${nodes} marked`,
  start: "– of it, from the queue to the function",
  patches: `– of it, ${nodes} patches`,
  cpu: "– of the processor, in the function's work",
} as const;
type Parts = Readonly<Record<keyof typeof steps, number>>;

const figuresOf = (warm: readonly Parts[], cold: readonly Parts[]): Figure[] =>
  (Object.keys(steps) as (keyof Parts)[]).map((step) => {
    const medianOf = (runs: readonly Parts[]) => ms(median(runs.map((run) => run[step])));
    return { what: steps[step], value: `warm ${medianOf(warm)}`, beside: `cold ${medianOf(cold)}` };
  });

async function launchOnce(cluster: DeployedCluster): Promise<Parts> {
  await cluster.releaseAll();
  await cluster.empty();
  const watching = Promise.withResolvers<void>();
  const allMarked = whenMarked(cluster, watching.resolve);
  await Promise.race([watching.promise, allMarked]);
  const before = await idsOf(cluster);
  const begun = Date.now();
  await cluster.launch();
  const marked = await allMarked;
  let own: Trace | undefined;
  await until("the hold function to report the launch", async () => {
    own = (await tracesOf(cluster)).find(({ requestId, launches }) => launches > 0 && !before.has(requestId));
    return own !== undefined;
  });
  const { queuedAt, began, calls, cpuMs } = own as Trace;
  return {
    total: marked.getTime() - begun,
    start: began.getTime() - queuedAt.getTime(),
    patches: (calls["Kubernetes PATCH"]?.to ?? 0) - (calls["Kubernetes PATCH"]?.from ?? 0),
    cpu: cpuMs,
  };
}

/** The moment at which all nodes are marked, as the API server reports it from outside. */
async function whenMarked({ config }: DeployedCluster, onOpen: () => void): Promise<Date> {
  const { signal } = new AbortController();
  const query = new URLSearchParams({ labelSelector: holdLabel, resourceVersion: "0" });
  const stream = { login: kubeconfigLogin(config), path: "/api/v1/nodes", query, signal, onOpen };
  let count = 0;
  for await (const { type } of streamOf(stream)) {
    if (type === "ADDED") count += 1;
    if (count === nodes) return new Date();
  }
  throw new Error("the watch of the marks ended");
}

/** Many launches at once, through bus, queue and function. */
async function burst(cluster: DeployedCluster, launches: number): Promise<Figure> {
  await cluster.releaseAll();
  await cluster.empty();
  const before = await cluster.schedules();
  const earlier = await idsOf(cluster);
  await cluster.launchMany(launches);
  let traces: readonly Trace[] = [];
  const counted = () => traces.reduce((sum, one) => sum + one.launches, 0);
  await until(`${launches} launches to be counted`, async () => {
    const all = await tracesOf(cluster);
    traces = all.filter((one) => one.launches > 0 && !earlier.has(one.requestId));
    return counted() >= launches;
  });
  const writes = traces.reduce((sum, { calls }) => sum + (calls.PutItem?.count ?? 0), 0);
  const oneShots = (await cluster.schedules()).filter((name) => !before.includes(name)).length;
  const dead =
    (await cluster.messagesIn("LaunchesDeadLetters")) + (await cluster.messagesIn("FunctionsFailures"));
  return {
    what: `a burst of ${count(launches)} launches`,
    value: `${counted()} counted in ${traces.length} batches, ${writes} record writes, ${oneShots} one-shots, ${dead} dead letters`,
    // Where two batches meet, one of them writes again.
    goal: `each of ${count(launches)} once; at most 1.2 record writes a batch; 1 one-shot; 0 dead letters`,
    reached: counted() === launches && writes <= 1.2 * traces.length && oneShots === 1 && dead === 0,
  };
}

/** What one invocation of the hold function logged of itself. */
type Trace = Readonly<{
  requestId: string;
  queuedAt: Date;
  began: Date;
  /** How many launches it counted that were not counted before. */
  launches: number;
  calls: Readonly<Record<string, CallTime>>;
  /** Of the processor, without what starting the function took. */
  cpuMs: number;
}>;

type Line = Readonly<{
  message: string;
  requestId: string;
  queuedAt: string;
  began: string;
  launches?: number;
  calls: Trace["calls"];
  cpuMs: number;
}>;

const idsOf = async (cluster: DeployedCluster): Promise<ReadonlySet<string>> =>
  new Set((await tracesOf(cluster)).map(({ requestId }) => requestId));

/** Every invocation that has ended. */
async function tracesOf(cluster: DeployedCluster): Promise<readonly Trace[]> {
  const lines = (await cluster.logs("hold")).flatMap(readLine);
  return [...Map.groupBy(lines, ({ requestId }) => requestId)].flatMap(([requestId, ofOne]) => {
    const logged = (message: string) => ofOne.find((line) => line.message === message);
    const [batch, made] = [logged("batch received"), logged("calls made")];
    if (!batch || !made) return [];
    const launches = ofOne
      .filter(({ message }) => message === "planned")
      .reduce((sum, line) => sum + (line.launches ?? 0), 0);
    const { calls, cpuMs } = made;
    return [
      { requestId, queuedAt: new Date(batch.queuedAt), began: new Date(made.began), launches, calls, cpuMs },
    ];
  });
}

function readLine(text: string): Line[] {
  const json = text.slice(text.indexOf("{"));
  try {
    return [JSON.parse(json) as Line];
  } catch {
    return []; // Lambda's own lines
  }
}
