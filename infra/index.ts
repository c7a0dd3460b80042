export type { HolderVpc, HolderVpcIds, HolderVpcObjects } from "./network.ts";
export { KarpenterNodeHolder } from "./node-holder.ts";
export type { Access, HolderCluster, HolderDuration, KarpenterNodeHolderProps } from "./props.ts";
export type { HoldDuringProps, HoldOnProps } from "./resources/hold-trigger.ts";
