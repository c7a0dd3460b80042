import { App, Stack } from "aws-cdk-lib";
import { KarpenterNodeHolder } from "karpenter-node-holder";

const app = new App();
const stack = new Stack(app, "Platform");
const holder = new KarpenterNodeHolder(stack, "Holder", { cluster: "prod" });
holder.addOutputs();
app.synth();
