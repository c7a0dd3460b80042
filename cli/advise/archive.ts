import { appendFileSync, chmodSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import * as v from "valibot";
import { moment } from "../../lambda/schemas/values.ts";
import { explainAwsError } from "../aws-errors.ts";
import type { AwsConfig } from "../terminal/cluster-flags.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type InstanceEvent, instanceEvent } from "./lives.ts";

/** A stretch of time of which all calls of one name were read, and what was found in it. */
const page = v.object({
  read: v.object({ call: v.string(), from: moment, to: moment }),
  events: v.array(instanceEvent),
});
type Page = v.InferOutput<typeof page>;
type Read = Readonly<Page["read"]>;
type Stretch = Pick<Read, "from" | "to">;

/** What was read of CloudTrail, kept in a file that is only ever added to: reading continues where it ended. */
export class Archive {
  readonly #path: string;
  readonly #events = new Map<string, InstanceEvent>();
  readonly #read: Read[] = [];

  constructor(path: string) {
    this.#path = path;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    appendFileSync(path, "");
    // A file from before, or from a backup, may be readable by others.
    chmodSync(path, 0o600);
    for (const line of readFileSync(path, "utf8").split("\n")) this.#load(line);
  }

  get events(): readonly InstanceEvent[] {
    return [...this.#events.values()];
  }

  /** Keeps a page in one line: it is kept whole or not at all. */
  keep(read: Read, events: readonly InstanceEvent[]): void {
    this.#add({ read, events: [...events] });
    // The line before may have been cut off.
    appendFileSync(this.#path, `\n${JSON.stringify({ read, events })}`);
  }

  /** The stretches of a time in which calls of this name were not read yet, the newest first. */
  gaps(call: string, from: Date, to: Date): readonly Stretch[] {
    const read = this.#read.filter((one) => one.call === call);
    return gapsIn(read, from, to);
  }

  #add({ read, events }: Page): void {
    this.#read.push(read);
    for (const event of events) this.#events.set(`${event.kind} ${event.instance} ${event.id}`, event);
  }

  /** A line that was cut off or written by another program is ignored: its page is read again. */
  #load(line: string): void {
    const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), page), line);
    if (success) this.#add(output);
  }
}

/** What of a stretch is not covered by others, the newest first. */
export function gapsIn(covered: readonly Stretch[], from: Date, to: Date): readonly Stretch[] {
  const gaps: Stretch[] = [];
  let start = from;
  for (const one of covered.toSorted((a, b) => a.from.getTime() - b.from.getTime())) {
    if (one.to <= start) continue;
    if (one.from >= to) break;
    if (one.from > start) gaps.push({ from: start, to: one.from });
    start = one.to;
  }
  if (start < to) gaps.push({ from: start, to });
  return gaps.reverse();
}

/** The cache's path; clusters of the same name in several accounts or regions have a file each. */
export async function cacheFile(
  config: AwsConfig,
  cluster: string,
  { XDG_CACHE_HOME }: Terminal["env"],
): Promise<string> {
  const folder = join(XDG_CACHE_HOME || join(homedir(), ".cache"), "karpenter-node-holder");
  const client = new STSClient(config);
  try {
    const { Account } = await client.send(new GetCallerIdentityCommand());
    return join(folder, `advise-${Account}-${await client.config.region()}-${cluster}.jsonl`);
  } catch (error) {
    throw explainAwsError(error, "read the caller's identity");
  }
}
