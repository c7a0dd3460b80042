import { between, exponential, logNormal, type Random } from "../../random.ts";
import type { Job, Service, Trace } from "./trace.ts";
import { autoscaled, builds, cron, curveAt, day, hour, minute, ordered, rollouts, rounded } from "./work.ts";

/** Kinds of work by themselves, on clusters of about ten nodes of eight cores. */

const base: readonly Service[] = [
  { name: "web", replicas: 12, cpu: "500m", memory: "768Mi", starts: 8, surge: 0.25 },
  { name: "api", replicas: 8, cpu: "750m", memory: "1Gi", starts: 15, pdb: { maxUnavailable: 1 } },
  { name: "search", replicas: 4, cpu: "1500m", memory: "4Gi", starts: 40, pdb: { maxUnavailable: 1 } },
];

const daemons: Trace["daemons"] = [{ name: "log-agent", cpu: "100m", memory: "192Mi" }];

const nothing = { drifts: [], interruptions: [] };

const everyMinute = (random: Random, until: number): readonly Job[] =>
  cron(random, { name: "cron-1m", every: minute, until, runs: [5, 25], cpu: 0.1, memory: "128Mi" });

/** Pauses of every length, sizes of every kind: what a hold after each launch is made for. */
export function bursts(random: Random): Trace {
  const until = 12 * hour;
  const jobs: Job[] = [];
  let burst = 0;
  for (let at = 5 * minute; at < until; at += 60 + exponential(random, 14 * minute)) {
    const size = Math.min(60, Math.max(1, Math.round(logNormal(random, 9, 0.8))));
    const runs = between(random, 90, 8 * minute);
    for (let i = 0; i < size; i++) {
      const cpu = random() < 0.5 ? 1 : 2;
      jobs.push({
        name: `burst-${burst}-${i}`,
        at: rounded(Math.min(until, at + random() * 5)),
        runs: rounded(runs * between(random, 0.7, 1.3)),
        cpu,
        memory: `${2 * cpu}Gi`,
        image: `batch-${burst % 3}`,
      });
    }
    burst += 1;
  }
  const about =
    "twelve hours of bursts of jobs beside services that do not change; pauses and sizes are random";
  return { about, lasts: until, services: [...base], jobs, daemons, ...nothing };
}

/** A cluster whose work is CI alone: some pushes at any time, many by day. */
export function ci(random: Random): Trace {
  const until = day;
  const load = (at: number) => Math.max(0.1, curveAt(at));
  return {
    about: "a day of CI runners beside small services: jobs come in bursts, more by day; few jobs are long",
    lasts: until,
    services: base.map((service) => ({ ...service, replicas: Math.ceil(service.replicas / 2) })),
    jobs: builds(random, { until, perHour: 10, load, size: [2, 40] }),
    daemons,
    ...nothing,
  };
}

/** Nothing but small jobs and small changes: here a holder should cost nothing. */
export function quiet(random: Random): Trace {
  const until = day;
  const services = base.map((service): Service => {
    const least = Math.max(1, service.replicas - 1);
    const load = () => 0.5;
    const grown = autoscaled(random, { until, least, most: service.replicas + 1, load, noise: 0.25 });
    return { ...service, ...grown };
  });
  return {
    about: "a quiet day: services that hardly change and a small job every minute",
    lasts: until,
    services,
    jobs: [...everyMinute(random, until)],
    daemons,
    ...nothing,
  };
}

/** Services that only get smaller: a hold of everything pays for all that is empty. */
export function shrinking(random: Random): Trace {
  const until = 10 * hour;
  const services = base.map((service): Service => {
    const most = service.replicas * 3;
    const load = (at: number) => Math.max(0, 1 - at / (9 * hour));
    const scaled = autoscaled(random, {
      until,
      least: Math.ceil(service.replicas / 3),
      most,
      load,
      noise: 0.12,
    });
    const versions = rollouts(random, { until, perDay: 1 });
    return { ...service, replicas: scaled.replicas, changes: ordered([...scaled.changes, ...versions]) };
  });
  const ci = builds(random, { until, perHour: 1, load: () => 1, size: [2, 12] });
  return {
    about:
      "ten hours in which services shrink to a ninth, with small jobs every minute and a burst now and then",
    lasts: until,
    services,
    jobs: [...everyMinute(random, until), ...ci].toSorted((a, b) => a.at - b.at),
    daemons,
    ...nothing,
  };
}
