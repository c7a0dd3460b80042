/** How a probe is told from a launch on the event bus. */
export const probeSource = "karpenter-node-holder.probe";
export const probeDetailType = "Karpenter Node Holder Probe";
