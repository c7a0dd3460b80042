import { after, type Duration, earlier, minutes } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { explainAwsError } from "../aws-errors.ts";
import { type AwsFlags, awsConfig } from "../terminal/cluster-flags.ts";
import { Failure } from "../terminal/failure.ts";
import { Progress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { about } from "../terminal/text.ts";
import { Archive, cacheFile } from "./archive.ts";
import { lookUp } from "./cloudtrail.ts";
import { exportedEvents } from "./cloudtrail-events.ts";
import { fromCloudTrail } from "./happened.ts";
import type { Account } from "./history.ts";
import type { InstanceEvent } from "./lives.ts";

export type CloudTrailFlags = AwsFlags &
  Readonly<{ cluster: string; since: Duration; from?: readonly string[]; cache?: string }>;

/** What CloudTrail has of a cluster's nodes: from AWS, or from exported records. */
export async function accountOfCloudTrail(flags: CloudTrailFlags, terminal: Terminal): Promise<Account> {
  const now = new Date();
  const { from, cluster, since } = flags;
  const events = from ? exportedEvents(from, cluster) : await readCloudTrail(flags, now, terminal);
  if (!events.some(({ kind }) => kind === "launched")) throw nothingFound(flags);
  const begin = from ? events.map(({ at }) => at).reduce(earlier) : after(now, -since);
  return fromCloudTrail(events, begin);
}

/** Reads from AWS what the cache does not have yet. */
async function readCloudTrail(
  flags: CloudTrailFlags,
  now: Date,
  terminal: Terminal,
): Promise<readonly InstanceEvent[]> {
  const { env } = terminal;
  const config = awsConfig(flags, env);
  const path = flags.cache ?? (await cacheFile(config, flags.cluster, env));
  const archive = new Archive(path);
  const from = after(now, -flags.since);
  // The newest quarter of an hour is not in CloudTrail yet, and must not count as read.
  const to = after(now, -minutes(15));
  const progress = new Progress(1, terminal);
  const task = progress.begin("CloudTrail");
  try {
    const onRead: Parameters<typeof lookUp>[0]["onRead"] = ({ call, reached, share }) => {
      const back = about(now.getTime() - reached.getTime());
      const found = `${archive.events.length} events of this cluster so far`;
      task.advance(share, `${call} read back to ${back} ago, ${found}`);
    };
    await lookUp({ config, cluster: flags.cluster, archive, from, to, onRead });
  } catch (error) {
    const explained = explainAwsError(error, "look up CloudTrail events");
    const kept = `What was read is kept in ${path}; the same command continues from there.`;
    if (explained instanceof Failure) throw new Failure(explained.message, `${explained.remedy} ${kept}`);
    if (explained instanceof TryAgainError) throw new Failure(explained.message, kept);
    throw explained;
  } finally {
    progress.stop();
  }
  return archive.events.filter(({ at }) => at >= from);
}

const nothingFound = ({ cluster, from }: CloudTrailFlags): Failure =>
  new Failure(
    `no launch of a Karpenter node of cluster ${cluster} was found`,
    from
      ? "Does the export contain CreateFleet, RunInstances and TerminateInstances, and is it of this cluster?"
      : "Check --cluster and --region, or look back further with --since.",
  );
