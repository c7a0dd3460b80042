import { LambdaClient, paginateListFunctions } from "@aws-sdk/client-lambda";
import { holderName } from "../lambda/core/marks/keys.ts";
import { SettingEnvironment } from "../lambda/environment.ts";
import type { AwsConfig } from "./terminal/cluster-flags.ts";

/** The clusters that have a holder in this account and region; undefined when we may not know. */
export async function findHolders(
  config: AwsConfig,
): Promise<Readonly<{ region: string | undefined; found: readonly string[] | undefined }>> {
  const client = new LambdaClient({ ...config, maxAttempts: 2 });
  const region = await client.config.region().catch(() => undefined);
  const found: string[] = [];
  try {
    for await (const page of paginateListFunctions({ client, stopOnSameToken: true }, {})) {
      for (const { FunctionName = "", Environment } of page.Functions ?? []) {
        const cluster: unknown = Environment?.Variables?.[SettingEnvironment.cluster];
        if (
          FunctionName.startsWith(`${holderName}-`) &&
          FunctionName.endsWith("-control") &&
          typeof cluster === "string"
        )
          found.push(cluster);
      }
    }
    return { region, found: found.sort() };
  } catch {
    return { region, found: undefined };
  } finally {
    client.destroy();
  }
}
