/** The source and detail type by which a probe differs from a launch on the event bus. */
export const probeSource = "karpenter-node-holder.probe";
export const probeDetailType = "Karpenter Node Holder Probe";

/** The pattern of the rule on the event bus: every launched instance, and the probes of this cluster. */
export const launchesAndProbes = (cluster: string) => ({
  $or: [
    {
      source: ["aws.ec2"],
      "detail-type": ["EC2 Instance State-change Notification"],
      detail: { state: ["pending"] },
    },
    { source: [probeSource], "detail-type": [probeDetailType], detail: { cluster: [cluster] } },
  ],
});
