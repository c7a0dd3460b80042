import { App, Duration, Stack } from "aws-cdk-lib";
import { KarpenterNodeHolder } from "karpenter-node-holder";

const app = new App();
const stack = new Stack(app, "Platform");
const holder = new KarpenterNodeHolder(stack, "Holder", { cluster: "prod", alarms: "none" });

// CodeDeploy: from the start of a deployment on
holder.holdOn("Deployments", {
  eventPattern: {
    source: ["aws.codedeploy"],
    detailType: ["CodeDeploy Deployment State-change Notification"],
    detail: { state: ["START"] },
  },
  for: Duration.minutes(30),
});

// Office hours
holder.holdDuring("OfficeHours", {
  schedule: "cron(0 9 ? * MON-FRI *)",
  timeZone: "Europe/Berlin",
  for: Duration.hours(9),
});
app.synth();
