import type { SettingsTable } from "../../lambda/settings-table.ts";
import type { HolderVpcIds } from "../network.ts";
import type { KarpenterNodeHolderProps } from "../props.ts";
import { misspelledKeys } from "./check-props.ts";
import { checkDeployment, settingsTable } from "./deployment.ts";
import { unusable } from "./plan.ts";

/** The settings of `cdk deploy -c name=value`. */
export type ContextSettings = Readonly<{
  props: Omit<KarpenterNodeHolderProps, "alarmTopic" | "name"> & Readonly<{ cluster: string }>;
  alarmTopicArn: string;
}>;

/** Reads the settings of the repository's own app; one error names every problem. */
export function readContext(context: Readonly<Record<string, unknown>>): ContextSettings {
  const { settings, deployment, problems } = checkDeployment(context);
  const found = [...problems, ...misspelledKeys(Object.keys(context))];
  if (context.name)
    found.push(`name is for an app of your own: here all is named after the cluster, not "${context.name}"`);
  if (found.length > 0) throw unusable(found);
  const { vpc, alarmTopicArn } = deployment;
  const table: SettingsTable = settingsTable;
  const texts = Object.entries(context).filter(([name, value]) => name in table && value !== "");
  const { vpc: _, alarmTopicArn: __, ...others } = Object.fromEntries(texts);
  // The construct reads a text as it reads its props: by the table.
  const network = vpc && { vpc: idsIn(vpc) };
  const props = { ...others, cluster: settings.cluster, ...network } as ContextSettings["props"];
  return { props, alarmTopicArn };
}

function idsIn(text: string): HolderVpcIds {
  const ids = text.split(",").map((id) => id.trim());
  return {
    subnetIds: ids.filter((id) => id.startsWith("subnet-")),
    securityGroupIds: ids.filter((id) => id.startsWith("sg-")),
  };
}
