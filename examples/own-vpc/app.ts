import { App, Stack } from "aws-cdk-lib";
import { SecurityGroup, Vpc } from "aws-cdk-lib/aws-ec2";
import { KarpenterNodeHolder } from "karpenter-node-holder";

const app = new App();
const stack = new Stack(app, "Platform", { env: { account: "111122223333", region: "eu-west-1" } });
const vpc = Vpc.fromVpcAttributes(stack, "Vpc", {
  vpcId: "vpc-0123456789abcdef0",
  availabilityZones: ["eu-west-1a", "eu-west-1b"],
  privateSubnetIds: ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
});
// The cluster's security group lets the functions in on port 443.
new KarpenterNodeHolder(stack, "Holder", {
  cluster: "private",
  alarms: "none",
  vpc: {
    vpc,
    subnets: { availabilityZones: ["eu-west-1a"] },
    clusterSecurityGroups: [SecurityGroup.fromSecurityGroupId(stack, "Cluster", "sg-0123456789abcdef0")],
  },
});
app.synth();
