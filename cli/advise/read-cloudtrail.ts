import { after, type Duration, earlier, later, minutes, seconds } from "../../lambda/core/duration.ts";
import { explainAwsError } from "../aws-errors.ts";
import { type AwsConfig, type AwsFlags, awsConfig, withTimeLimits } from "../terminal/cluster-flags.ts";
import { Failure } from "../terminal/failure.ts";
import { Progress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { about } from "../terminal/text.ts";
import { lookUp, tryLookUp } from "./cloudtrail.ts";
import { exportedEvents } from "./cloudtrail-events.ts";
import { fromCloudTrail } from "./happened.ts";
import type { Account } from "./history.ts";
import { type InstanceEvent, isLaunch } from "./lives.ts";

export type CloudTrailFlags = AwsFlags &
  Readonly<{ cluster: string; since: Duration; from?: readonly string[] }>;

/** What CloudTrail has of a cluster's nodes: of exported records at once, of AWS when it is called. What fails, fails at once. */
export async function openCloudTrail(
  flags: CloudTrailFlags,
  terminal: Terminal,
): Promise<() => Promise<Account>> {
  const { from, cluster, since } = flags;
  const unlessEmpty = (events: readonly InstanceEvent[]) => {
    if (events.some(isLaunch)) return events;
    throw nothingFound(flags);
  };
  if (from) {
    const events = unlessEmpty(exportedEvents(from, cluster));
    const times = events.map(({ at }) => at);
    const account = { ...fromCloudTrail(events, times.reduce(earlier)), until: times.reduce(later) };
    return async () => account;
  }
  const config = withTimeLimits(awsConfig(flags, terminal.env), seconds(20));
  await tryLookUp(config).catch(explain);
  return async () => {
    const now = new Date();
    const events = await readCloudTrail(config, flags, now, terminal).catch(explain);
    return fromCloudTrail(unlessEmpty(events), after(now, -since));
  };
}

const explain = (error: unknown): never => {
  throw explainAwsError(error, "look up CloudTrail events");
};

async function readCloudTrail(
  config: AwsConfig,
  { cluster, since }: CloudTrailFlags,
  now: Date,
  terminal: Terminal,
): Promise<readonly InstanceEvent[]> {
  // The newest quarter of an hour is not in CloudTrail yet.
  const [from, to] = [after(now, -since), after(now, -minutes(15))];
  const progress = new Progress(1, terminal);
  const task = progress.begin("CloudTrail");
  try {
    const onRead: Parameters<typeof lookUp>[0]["onRead"] = ({ call, reached, found, share }) => {
      const back = about(now.getTime() - reached.getTime());
      task.advance(share, `${call} read back to ${back} ago, ${found} events of this cluster so far`);
    };
    return await lookUp({ config, cluster, from, to, onRead });
  } finally {
    progress.stop();
  }
}

const nothingFound = ({ cluster, from }: CloudTrailFlags): Failure =>
  new Failure(
    `no launch of a Karpenter node of cluster ${cluster} was found`,
    from
      ? "Does the export contain CreateFleet, RunInstances and TerminateInstances, and is it of this cluster?"
      : "Check --cluster and --region, or look back further with --since.",
  );
