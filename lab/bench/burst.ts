import { after, minutes } from "../../lambda/core/duration.ts";
import { parseMessage } from "../../lambda/handlers/events.ts";
import { onNodeLaunched } from "../../lambda/handlers/hold.ts";
import { World } from "../../simulator/world.ts";
import { type Bench, count, type Figure, type Plot } from "./figure.ts";

/** As the event source mapping delivers them. */
const batchSize = 10;

const sizes = [100, 250, 500, 1_000, 2_000];
const reported = [500, 1_000];

type Run = Readonly<{
  launches: number;
  batches: number;
  schedulerCalls: number;
  writes: number;
  awaited: number;
  failures: number;
}>;

/** What many launches cost in calls, and whether every one of them is waited for. */
export const burst: Bench = {
  name: "burst",
  title: "Many launches, through the handler on in-memory ports",
  seconds: 5,
  async run() {
    const runs: Run[] = [];
    for (const size of sizes) runs.push(await launched(size));
    const figures = runs.filter(({ launches }) => reported.includes(launches)).flatMap(figuresOf);
    return { figures, plots: [plotOf(runs)] };
  },
};

async function launched(launches: number): Promise<Run> {
  const world = new World();
  for (let i = 0; i < 50; i++) world.nodes.add(`node-${i}`);
  const batches = Math.ceil(launches / batchSize);
  let failures = 0;
  for (let batch = 0; batch < batches; batch++) {
    const ids = Array.from({ length: Math.min(batchSize, launches - batch * batchSize) }, (_, i) =>
      instanceId(batch * batchSize + i),
    );
    for (const id of ids) world.ec2.add(id, world.time, "default");
    const answer = await onNodeLaunched(world.ports)(eventOf(ids, world.time), {
      deadline: after(world.time, minutes(1)),
      log: world.log,
    });
    failures += answer.batchItemFailures.length;
    world.clock.pass(1_000);
  }
  const callsTo = (name: string) => world.calls.filter((call) => call === name).length;
  const awaited = new Set(world.queue.messages.flatMap(({ body }) => awaitedIn(body)));
  return {
    launches,
    batches,
    schedulerCalls: callsTo("arm"),
    writes: callsTo("write"),
    awaited: awaited.size,
    failures,
  };
}

function awaitedIn(body: string): readonly string[] {
  const message = parseMessage(body);
  if (message.kind !== "followUp" || message.followUp.kind !== "pendingNodes") return [];
  return message.followUp.awaited.map(({ instance }) => instance);
}

function figuresOf({ launches, batches, schedulerCalls, writes, awaited, failures }: Run): Figure[] {
  const title = `${count(launches)} launches in ${batches} batches`;
  return [
    {
      what: `${title}: Scheduler calls`,
      value: String(schedulerCalls),
      goal: "1",
      reached: schedulerCalls === 1,
    },
    {
      what: `${title}: record writes`,
      value: String(writes),
      goal: "one a batch, and two for the start: armed, marked",
      reached: writes <= batches + 2,
    },
    {
      what: `${title}: awaited new nodes`,
      value: `${awaited}, ${failures} failed messages`,
      goal: `all ${count(launches)}, 0 failed`,
      reached: awaited === launches && failures === 0,
    },
  ];
}

function plotOf(runs: readonly Run[]): Plot {
  const line = (name: string, value: (run: Run) => number) => ({
    name,
    points: runs.map((run) => [run.launches, value(run)] as const),
  });
  return {
    name: "burst",
    lines: {
      title: "Calls for many launches in one hold",
      subtitle: `reported in batches of ${batchSize}`,
      x: { label: "launches" },
      y: { label: "calls" },
      series: [
        line("record writes", (run) => run.writes),
        line("batches", (run) => run.batches),
        line("Scheduler calls", (run) => run.schedulerCalls),
      ],
    },
  };
}

const instanceId = (n: number): string => `i-${n.toString(16).padStart(17, "0")}`;

const eventOf = (ids: readonly string[], at: Date) => ({
  Records: ids.map((id) => ({
    messageId: id,
    attributes: { SentTimestamp: String(at.getTime()) },
    body: JSON.stringify({
      source: "aws.ec2",
      time: at.toISOString(),
      detail: { "instance-id": id, state: "pending" },
    }),
  })),
});
