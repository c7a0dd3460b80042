import { App, Stack } from "aws-cdk-lib";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { KarpenterNodeHolder } from "karpenter-node-holder";

const app = new App();
const stack = new Stack(app, "Platform");
const alarmTopic = new Topic(stack, "Alarms");
alarmTopic.addSubscription(new EmailSubscription("platform@example.com"));
new KarpenterNodeHolder(stack, "Holder", {
  cluster: "prod",
  alarmTopic,
  runbookUrl: "https://wiki.example.com/node-holder",
});
app.synth();
