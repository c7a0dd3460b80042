/** The source and detail type by which a probe differs from a launch on the event bus. */
export const probeSource = "karpenter-node-holder.probe";
export const probeDetailType = "Karpenter Node Holder Probe";

type Source = Readonly<{ cluster: string; account: string; region: string }>;

/**
 * The pattern of the rule on the event bus: every launched instance, and the probes of this cluster. Events that other
 * accounts and regions forward to this bus keep their own account and region.
 */
export const launchesAndProbes = ({ cluster, account, region }: Source) => ({
  account: [account],
  region: [region],
  $or: [
    {
      source: ["aws.ec2"],
      "detail-type": ["EC2 Instance State-change Notification"],
      detail: { state: ["pending"] },
    },
    { source: [probeSource], "detail-type": [probeDetailType], detail: { cluster: [cluster] } },
  ],
});
