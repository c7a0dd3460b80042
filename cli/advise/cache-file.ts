import { homedir } from "node:os";
import { join } from "node:path";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { explainAwsError } from "../aws-errors.ts";
import type { AwsConfig } from "../terminal/cluster-flags.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Where what was read is kept; a cluster of the same name in another account or region is another cluster. */
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
    throw explainAwsError(error, "ask whose they are");
  } finally {
    client.destroy();
  }
}
