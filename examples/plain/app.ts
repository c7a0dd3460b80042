import { App, Stack } from "aws-cdk-lib";
import { KarpenterNodeHolder } from "karpenter-node-holder";

const app = new App();
const stack = new Stack(app, "Platform");
const holder = new KarpenterNodeHolder(stack, "Holder", {
  cluster: "prod",
  alarms: "none", // or alarmTopic
});
holder.addOutputs();
app.synth();
