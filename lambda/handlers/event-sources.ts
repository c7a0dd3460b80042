/** The source and detail type by which a probe differs from a launch on the event bus. */
export const probeSource = "karpenter-node-holder.probe";
export const probeDetailType = "Karpenter Node Holder Probe";
