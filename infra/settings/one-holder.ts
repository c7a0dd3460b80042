import { Stack } from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import { unusable } from "./plan.ts";

type Holder = IConstruct & Readonly<{ cluster: string; name: string }>;

/** Two holders of one cluster would have the same names in AWS, and remove each other's marks as orphaned. */
export function refuseSecondHolder(holder: Holder, isHolder: (one: IConstruct) => one is Holder): void {
  const { account, region } = Stack.of(holder);
  const other = holder.node.root.node
    .findAll()
    .filter(isHolder)
    .filter((one) => one !== holder)
    .find((one) => {
      const stack = Stack.of(one);
      // Without an env, account and region are the same tokens, and may be the same account and region.
      const isSame = one.cluster === holder.cluster || one.name === holder.name;
      return isSame && stack.account === account && stack.region === region;
    });
  if (!other) return;
  const problem =
    `cluster ${holder.name} already has a holder at ${other.node.path}: remove one of them, or give their ` +
    "stacks an env if the clusters are in other accounts or regions";
  throw unusable([problem], holder);
}
