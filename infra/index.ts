export type { HoldDuringProps, HoldOnProps } from "./hold-trigger.ts";
export { KarpenterNodeHolder } from "./node-holder.ts";
export type { Access, HolderVpc, KarpenterNodeHolderProps } from "./props.ts";
