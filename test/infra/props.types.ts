/** Read by the compiler alone: what stands below @ts-expect-error must not compile, all else must. Other tests use the rest. */
import { App, Duration, Stack } from "aws-cdk-lib";
import { Vpc } from "aws-cdk-lib/aws-ec2";
import { CfnCluster } from "aws-cdk-lib/aws-eks";
import { KarpenterNodeHolder, type KarpenterNodeHolderProps } from "karpenter-node-holder";

const eks = { roleArn: "arn", resourcesVpcConfig: { subnetIds: [] } };
const stack = new Stack(new App(), "Types");
const holder = (props: Partial<KarpenterNodeHolderProps>) =>
  new KarpenterNodeHolder(stack, "Holder", { cluster: "prod", ...props });

// @ts-expect-error
new KarpenterNodeHolder(stack, "Holder", {});
// @ts-expect-error
new KarpenterNodeHolder(stack, "Holder", { cluster: new CfnCluster(stack, "L1", eks) });
// @ts-expect-error
new KarpenterNodeHolder(stack, "Holder");

holder({ hold: "30m", maxHold: "1h30m", breather: "90s", driftWait: "2d" });
// @ts-expect-error
holder({ hold: "soon" });
// @ts-expect-error
holder({ maxHold: "auto" });
// @ts-expect-error
holder({ driftWait: 20 });
// @ts-expect-error
holder({ maxhold: Duration.hours(4) });

holder({ scope: "nodepool", nodePools: ["batch", "!gpu"], driftWait: Duration.minutes(5) });
holder({ karpenter: "v0.31", access: "manual", holdAnnotation: "example.com/keep" });
// @ts-expect-error
holder({ scope: "pool" });
// @ts-expect-error
holder({ nodePools: "batch" });

const vpc = Vpc.fromVpcAttributes(stack, "Vpc", { vpcId: "vpc-1", availabilityZones: ["a"] });
holder({ vpc: { subnetIds: ["subnet-1"], securityGroupIds: ["sg-1"], clusterSecurityGroupIds: ["sg-2"] } });
// @ts-expect-error
holder({ vpc: { vpc, clusterSecurityGroups: ["sg-2"] } });
// @ts-expect-error
holder({ vpc });
// @ts-expect-error
holder({ vpc: { subnetIds: ["subnet-1"] } });

// @ts-expect-error
holder({ alarmTopic: "arn:aws:sns:us-east-1:111122223333:ops" });
// @ts-expect-error
holder({ logRetentionDays: 31 });
// @ts-expect-error
holder({ reserveConcurrency: "true" });

const eventPattern = { source: ["aws.codedeploy"] };
holder({}).holdOn("Deployments", { eventPattern, for: "30m", name: "a deployment" });
holder({}).holdDuring("Nights", { schedule: "rate(1 day)", for: Duration.hours(1), scope: "nodepool/batch" });
// @ts-expect-error
holder({}).holdOn("Deployments", { for: "30m" });
// @ts-expect-error
holder({}).holdDuring("Nights", { schedule: "rate(1 day)" });
// @ts-expect-error
holder({}).holdDuring("Nights", { schedule: "rate(1 day)", for: "a night" });
// @ts-expect-error
holder({}).metric("NodesHeldYesterday", "Maximum");
// @ts-expect-error
holder({}).cluster = "next";
