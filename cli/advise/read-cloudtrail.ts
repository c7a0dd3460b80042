import { after, type Duration, earlier, later, minutes } from "../../lambda/core/duration.ts";
import { explainAwsError } from "../aws-errors.ts";
import { type AwsFlags, awsConfig } from "../terminal/cluster-flags.ts";
import { Failure } from "../terminal/failure.ts";
import { Progress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { about } from "../terminal/text.ts";
import { lookUp } from "./cloudtrail.ts";
import { exportedEvents } from "./cloudtrail-events.ts";
import { fromCloudTrail } from "./happened.ts";
import type { Account } from "./history.ts";
import type { InstanceEvent } from "./lives.ts";

export type CloudTrailFlags = AwsFlags &
  Readonly<{ cluster: string; since: Duration; from?: readonly string[] }>;

/** What CloudTrail has of a cluster's nodes: from AWS, or from exported records. */
export async function accountOfCloudTrail(flags: CloudTrailFlags, terminal: Terminal): Promise<Account> {
  const now = new Date();
  const { from, cluster, since } = flags;
  const events = from ? exportedEvents(from, cluster) : await readCloudTrail(flags, now, terminal);
  if (!events.some(({ kind }) => kind === "launched")) throw nothingFound(flags);
  if (!from) return fromCloudTrail(events, after(now, -since));
  const times = events.map(({ at }) => at);
  return { ...fromCloudTrail(events, times.reduce(earlier)), until: times.reduce(later) };
}

async function readCloudTrail(
  flags: CloudTrailFlags,
  now: Date,
  terminal: Terminal,
): Promise<readonly InstanceEvent[]> {
  const { cluster, since } = flags;
  const config = awsConfig(flags, terminal.env);
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
  } catch (error) {
    throw explainAwsError(error, "look up CloudTrail events");
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
