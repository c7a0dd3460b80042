import { homedir } from "node:os";
import { join } from "node:path";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { explainAwsError } from "../aws-errors.ts";
import type { AwsConfig } from "../terminal/cluster-flags.ts";
import type { Terminal } from "../terminal/terminal.ts";

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
  } finally {
    client.destroy();
  }
}
