import { App, Duration, Stack } from "aws-cdk-lib";
import { KarpenterNodeHolder, type KarpenterNodeHolderProps } from "karpenter-node-holder";

const app = new App();
const clusters: readonly KarpenterNodeHolderProps[] = [
  { cluster: "services", scope: "nodepool", nodePools: ["!gpu"] },
  { cluster: "batch", hold: Duration.minutes(10), maxHold: Duration.hours(4) },
];

// A stack of its own for each cluster, so that each can be deployed and removed alone.
for (const props of clusters) {
  new KarpenterNodeHolder(new Stack(app, `Holder-${props.cluster}`), "Holder", { ...props, alarms: "none" });
}
app.synth();
