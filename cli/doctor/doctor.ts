import type { AccessFinding } from "../../lambda/cluster-access/cluster-rights.ts";
import type { RightsOptions } from "../../lambda/cluster-access/manifest.ts";
import type { Duration } from "../../lambda/core/duration.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import type { Clock } from "../../lambda/core/ports.ts";
import { type Rules, writesNodeEvents } from "../../lambda/core/rules.ts";
import { SettingEnvironment } from "../../lambda/environment.ts";
import { holderSettings } from "../../lambda/settings-table.ts";
import type { NodePool } from "../advise/objects.ts";
import type { Account, FunctionFacts } from "./aws/account.ts";

/** What an examination needs. */
export type Doctor = Readonly<{
  cluster: string;
  account: Account;
  /** Compares what is in the cluster with what we would write there, with the caller's own kubeconfig; where one is given. */
  compareManifest?: (
    annotation: string,
    rights: Omit<RightsOptions, "subject">,
  ) => Promise<readonly AccessFinding[]>;
  /** Reads the NodePools, which the functions may not, with the caller's own kubeconfig; where one is given. */
  findNodePools?: () => Promise<readonly NodePool[]>;
  /** Reads the CapacityBuffers, which the functions may not, in the same way. */
  findCapacityBuffers?: () => Promise<readonly string[]>;
  clock: Clock;
  sleep: (duration: Duration) => Promise<void>;
}>;

/** Restores what was removed or changed by hand, which a deploy does not notice. */
export const redeploy = ({ cluster }: Pick<Doctor, "cluster">): string =>
  `cdk deploy -c cluster=${cluster} --revert-drift`;

/** Writes our objects in the cluster again, for the settings of these functions. */
export function reapply({ env }: Pick<FunctionFacts, "env">): string {
  const annotation = env[SettingEnvironment.holdAnnotation] ?? Karpenter.v1.annotation;
  const ofAnnotation = annotation === Karpenter.v1.annotation ? "" : ` --hold-annotation ${annotation}`;
  const ofMode = modeOf({ env }) === "observe" ? " --mode observe" : "";
  const ofHold = isAuto({ env }) ? "" : ` --hold ${env[SettingEnvironment.hold]}`;
  const ofEvents = hasNodeEvents({ env }) ? " --node-events true" : "";
  return `npx karpenter-node-holder manifest${ofAnnotation}${ofMode}${ofHold}${ofEvents} | kubectl apply -f -`;
}

/** Whether these functions write Events about nodes. */
export const hasNodeEvents = ({ env }: Pick<FunctionFacts, "env">): boolean =>
  writesNodeEvents({
    mode: modeOf({ env }),
    nodeEvents: env[SettingEnvironment.nodeEvents] === "true" ? "true" : "false",
  });

/** Whether these functions have `hold=auto`. */
export const isAuto = ({ env }: Pick<FunctionFacts, "env">): boolean =>
  (env[SettingEnvironment.hold] ?? holderSettings.hold.default) === "auto";

/** The setting `mode` of these functions. */
export const modeOf = ({ env }: Pick<FunctionFacts, "env">): Rules["mode"] =>
  env[SettingEnvironment.mode] === "observe" ? "observe" : "hold";
