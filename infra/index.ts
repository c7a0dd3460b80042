export { KarpenterNodeHolder } from "./node-holder.ts";
export type { Access, HolderVpc, KarpenterNodeHolderProps } from "./props.ts";
