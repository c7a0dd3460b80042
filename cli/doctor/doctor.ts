import type { AccessFinding } from "../../lambda/adapters/kubernetes-access.ts";
import type { Duration } from "../../lambda/core/duration.ts";
import type { Clock } from "../../lambda/core/ports.ts";
import type { Ask } from "../control.ts";
import type { Account } from "./account.ts";

/** What an examination needs. */
export type Doctor = Readonly<{
  cluster: string;
  account: Account;
  /** Asks the control function. */
  ask: Ask;
  /** Compares what is in the cluster with what we would write there, with the caller's own kubeconfig; where one is given. */
  compareManifest?: (annotation: string) => Promise<readonly AccessFinding[]>;
  clock: Clock;
  sleep: (duration: Duration) => Promise<void>;
}>;

/** Brings back what somebody removed or changed by hand, which an ordinary deploy does not notice. */
export const redeploy = ({ cluster }: Pick<Doctor, "cluster">): string =>
  `cdk deploy -c cluster=${cluster} --revert-drift`;

/** Writes what we own in the cluster once more. */
export const reapply = "npx karpenter-node-holder manifest | kubectl apply -f -";
