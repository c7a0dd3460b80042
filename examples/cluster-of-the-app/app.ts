import { App, Stack } from "aws-cdk-lib";
import { Cluster, KubernetesVersion } from "aws-cdk-lib/aws-eks-v2";
import { KarpenterNodeHolder } from "karpenter-node-holder";

const app = new App();
const stack = new Stack(app, "Platform");
const cluster = new Cluster(stack, "Cluster", {
  clusterName: "prod",
  version: KubernetesVersion.V1_34,
});
new KarpenterNodeHolder(stack, "Holder", { cluster, hold: "30m", alarms: "none" });
app.synth();
