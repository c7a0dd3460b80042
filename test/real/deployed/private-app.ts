import { App, Stack } from "aws-cdk-lib";
import { type IVpc, SecurityGroup, Vpc } from "aws-cdk-lib/aws-ec2";
import { KarpenterNodeHolder } from "../../../infra/index.ts";
import { stackName } from "../../../infra/names.ts";

/** An app whose stack has the holder and all of its network; the cluster has a private endpoint. */
const app = new App();
const cluster = String(app.node.getContext("cluster"));
const stack = new Stack(app, stackName(cluster));
const vpc = new Vpc(stack, "Vpc", { maxAzs: 2, natGateways: 1 }) as IVpc;
const group = SecurityGroup.fromSecurityGroupId(stack, "Cluster", app.node.getContext("securityGroup"));
const isConstant = app.node.tryGetContext("hold") === "20m";
new KarpenterNodeHolder(stack, "Holder", {
  cluster,
  hold: isConstant ? "20m" : "auto",
  alarms: "none",
  vpc: { vpc, clusterSecurityGroups: [group] },
});
app.synth();
