import { holdIds } from "../lambda/adapters/system-clock.ts";
import { minutes } from "../lambda/core/duration.ts";
import type { Ports } from "../lambda/core/ports.ts";
import { onNodeLaunched } from "../lambda/handlers/node-launched.ts";
import { someRules } from "../test/support/builders.ts";
import { CollectedLog, CollectedMetrics } from "../test/support/collected-log.ts";
import { FixedClock } from "../test/support/fixed-clock.ts";
import { MemoryHolds } from "../test/support/memory-holds.ts";
import { MemoryLater } from "../test/support/memory-later.ts";
import { MemoryLaunches } from "../test/support/memory-launches.ts";
import { MemoryNodes } from "../test/support/memory-nodes.ts";
import { MemorySchedules } from "../test/support/memory-schedules.ts";
import type { Bench, Figure } from "./figure.ts";

const batchSize = 100;

/** What many launches cost in calls, and whether every one of them is waited for. */
export const burst: Bench = {
  name: "burst",
  title: "Many launches, through the handler on in-memory ports",
  async run() {
    return [...(await launched(500)), ...(await launched(1_000))];
  },
};

async function launched(count: number): Promise<Figure[]> {
  const world = aWorld();
  const batches = Math.ceil(count / batchSize);
  let failures = 0;
  for (let batch = 0; batch < batches; batch++) {
    const ids = Array.from({ length: Math.min(batchSize, count - batch * batchSize) }, (_, i) =>
      instanceId(batch * batchSize + i),
    );
    for (const id of ids) world.launches.add(id, world.clock.now(), "default");
    const answer = await onNodeLaunched(world.ports)(
      eventOf(ids, world.clock.now()),
      new Date(world.clock.now().getTime() + 60_000),
    );
    failures += answer.batchItemFailures.length;
    world.clock.pass(1_000);
  }
  const awaited = new Set(
    world.later.waiting
      .flatMap(({ followUp }) => (followUp.kind === "newcomers" ? followUp.awaited : []))
      .map((one) => one.instance),
  );
  const title = `${count.toLocaleString("en")} launches in ${batches} batches`;
  return [
    {
      what: `${title}: Scheduler calls`,
      value: String(world.schedules.calls),
      goal: "1",
      reached: world.schedules.calls === 1,
    },
    {
      what: `${title}: record writes`,
      value: String(world.writes()),
      goal: "one a batch, and two for the start: armed, marked",
      reached: world.writes() <= batches + 2,
    },
    {
      what: `${title}: awaited newcomers`,
      value: `${awaited.size}, ${failures} failed messages`,
      goal: `all ${count}, 0 failed`,
      reached: awaited.size === count && failures === 0,
    },
  ];
}

function aWorld() {
  const clock = new FixedClock();
  let writes = 0;
  const holds = new MemoryHolds(clock, {
    before: async (call: string) => {
      if (call === "write") writes += 1;
    },
  });
  const launches = new MemoryLaunches();
  const later = new MemoryLater(clock);
  const schedules = new MemorySchedules();
  const nodes = new MemoryNodes({ clock });
  for (let i = 0; i < 50; i++) nodes.add(`node-${i}`);
  const rules = someRules({ hold: minutes(20) });
  const log = new CollectedLog();
  const metrics = new CollectedMetrics();
  const ports: Ports = {
    rules,
    holds,
    journal: holds,
    nodes,
    launches,
    schedules,
    later,
    clock,
    ids: holdIds,
    log,
    metrics,
  };
  return { ports, clock, launches, later, schedules, writes: () => writes };
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
