import { readFileSync } from "node:fs";
import type { DeployedCluster } from "../../test/real/deployed/cluster.ts";
import { DeployedWorld } from "../../test/real/deployed/world.ts";
import { until } from "../../test/real/engines/processes.ts";
import { BareLoop, type Door } from "./bare-loop.ts";
import { type Bench, count, type Figure, median, ms, type Plot, type Size } from "./figure.ts";
import { type Trace, tracesOf, whenTraced } from "./launch-trace.ts";
import { MarksWatch } from "./marks-watch.ts";
import { createNodes, nodeNames } from "./nodes-on-plane.ts";

const nodes = 100;

type Plan = Readonly<{ rounds: number; launches: number }>;

const plans: Readonly<Record<Size, Plan>> = {
  whole: { rounds: 7, launches: 500 },
  quick: { rounds: 1, launches: 20 },
};

/** From a launch to the last mark, through bus, queue, function and cluster of the deployed stack. */
export const endToEnd: Bench = {
  name: "end-to-end",
  title: `From a launch to ${nodes} marked nodes, on the deployed stack`,
  seconds: 150,
  async run(size, advance) {
    const { rounds, launches } = plans[size];
    // Only what AWS's documents say of a launch's way; whatever else delays it is not the holder's.
    const world = await DeployedWorld.start(["quiet-queues-wait"]);
    try {
      // Hourly, so that no sweep is in the way.
      const cluster = await world.cluster("bench", { hold: "10m", sweepEvery: "1h" });
      const door = doorOf(cluster);
      const loop = new BareLoop(door, 16);
      await createNodes(loop, nodeNames(nodes));
      loop.close();
      const runs: Record<Start, Parts[]> = { cold: [], warm: [] };
      for (let round = 0; round < rounds; round++) {
        advance((round + 1) / (rounds + 2), `round ${round + 1} of ${rounds}`);
        await cluster.forceColdStart("hold");
        runs.cold.push(await launchOnce(cluster, door));
        runs.warm.push(await launchOnce(cluster, door));
      }
      const parts = { cold: medians(runs.cold), warm: medians(runs.warm) };
      return {
        figures: [
          ...Object.keys(steps).map((step) => figureOf(step as Step, parts)),
          ...(await burst(cluster, launches)),
        ],
        notes,
        plots: [plotOf(parts, rounds)],
      };
    } finally {
      await world.stop();
    }
  },
};

type Start = "cold" | "warm";

/** The way of a launch, step by step; the last is the whole. */
const steps = {
  bus: "EC2, bus, queue",
  start: "queue to function",
  ec2: "EC2: whose is it?",
  demand: "demand and record",
  arming: "arming",
  list: "list",
  patches: `${nodes} patches`,
  total: `launch to ${nodes} marked`,
  cpu: "of the processor, in the function's work",
} as const;
type Step = keyof typeof steps;
type Parts = Readonly<Record<Step, number>>;

const notes = `Launch: the call of RunInstances. The end is seen from outside, by a watch on the API server; the parts are the function's own line
"calls made". The emulator's services answer in other times than AWS's, and it starts a function at once. The launch queue has no batching window,
and the emulator lets a quiet queue with one wait for 20 seconds, as AWS's documents say.
"demand and record" reads NodeClaims and their events; the login, which goes on since the function started, is waited for there, too.
[Decision 9](decisions/0009-bundles-of-what-is-called.md) reports how the start was cut. What is left are the patches, one a node, which the API server answers at its own pace. By default a launch is judged when it is two seconds old, because the event of a replacement may come that late: "queue to function" contains these two seconds. With \`replacements=hold\` it does not.`;

function doorOf({ config }: DeployedCluster): Door {
  const { server = "", caFile = "" } = config.getCurrentCluster() ?? {};
  return { server, ca: readFileSync(caFile), token: config.getCurrentUser()?.token ?? "" };
}

async function launchOnce(cluster: DeployedCluster, door: Door): Promise<Parts> {
  await cluster.releaseAll();
  await cluster.purgeLaunchQueue();
  const watch = await MarksWatch.open(door);
  try {
    const begun = Date.now();
    const instance = await cluster.launch();
    const marked = await watch.until(nodes);
    const { queuedAt, began, calls, cpuMs } = await whenTraced(cluster, instance);
    const from = (name: string) => calls[name]?.from ?? 0;
    const to = (name: string) => calls[name]?.to ?? 0;
    const [list, patch] = ["Kubernetes GET", "Kubernetes PATCH"] as const;
    return {
      bus: queuedAt.getTime() - begun,
      start: began.getTime() - queuedAt.getTime(),
      ec2: to("DescribeInstances"),
      demand: from("CreateSchedule") - to("DescribeInstances"),
      arming: to("CreateSchedule") - from("CreateSchedule"),
      list: to(list) - to("CreateSchedule"),
      patches: to(patch) - to(list),
      total: marked.getTime() - begun,
      cpu: cpuMs,
    };
  } finally {
    watch.close();
  }
}

const medians = (runs: readonly Parts[]): Parts =>
  Object.fromEntries(
    Object.keys(steps).map((step) => [step, median(runs.map((run) => run[step as Step]))]),
  ) as Parts;

const figureOf = (step: Step, { cold, warm }: Record<Start, Parts>): Figure => {
  const share = (parts: Parts) => `${Math.round((parts[step] / parts.total) * 100)} %`;
  const reported = (parts: Parts) =>
    step === "total" ? ms(parts.total) : `${ms(parts[step])} (${share(parts)})`;
  return { what: steps[step], value: `warm ${reported(warm)}`, beside: `cold ${reported(cold)}` };
};

const plotOf = (parts: Record<Start, Parts>, rounds: number): Plot => ({
  name: "end-to-end",
  bars: {
    title: `From a launch to ${nodes} marked nodes`,
    subtitle: `on the emulator, medians of ${rounds}; a cold function starts its process first`,
    y: { label: "time", unit: "ms" },
    series: ["warm", "cold"],
    groups: (Object.keys(steps) as Step[])
      .filter((step) => step !== "cpu")
      .map((step) => ({ name: step, values: [parts.warm[step], parts.cold[step]] })),
  },
});

/** Many launches at once, through bus, queue and function. */
async function burst(cluster: DeployedCluster, launches: number): Promise<readonly Figure[]> {
  await cluster.releaseAll();
  await cluster.purgeLaunchQueue();
  const before = await cluster.schedules();
  const instances = new Set(await cluster.launchMany(launches));
  let traces: readonly Trace[] = [];
  const decided = () => new Set(traces.flatMap((trace) => trace.decided));
  await until(`${launches} launches to be decided`, async () => {
    const all = await tracesOf(cluster);
    traces = all.filter((trace) => trace.decided.some((one) => instances.has(one)));
    return decided().size >= launches;
  });
  const writes = traces.reduce((sum, { calls }) => sum + (calls.PutItem?.count ?? 0), 0);
  const oneShots = (await cluster.schedules()).filter((name) => !before.includes(name)).length;
  const dead =
    (await cluster.messagesIn("LaunchesDeadLetters")) + (await cluster.messagesIn("FunctionsFailures"));
  return [
    {
      what: `a burst of ${count(launches)} launches`,
      value: `${decided().size} held in ${traces.length} batches, ${writes} record writes, ${oneShots} one-shot, ${dead} dead letters`,
      goal: `all ${count(launches)}; one record write a batch at most, and two for the start; 1 one-shot; 0 dead letters`,
      reached: decided().size === launches && writes <= traces.length + 2 && oneShots === 1 && dead === 0,
    },
  ];
}
