import { App, Stack } from "aws-cdk-lib";
import { EventField, Rule, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { SnsTopic } from "aws-cdk-lib/aws-events-targets";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Topic } from "aws-cdk-lib/aws-sns";
import { KarpenterNodeHolder } from "karpenter-node-holder";

const app = new App();
const stack = new Stack(app, "Platform");
const topic = new Topic(stack, "Chat");
// A topic with a policy of its own, which the rule below writes, takes no alarms otherwise.
topic.grantPublish(new ServicePrincipal("cloudwatch.amazonaws.com"));
new KarpenterNodeHolder(stack, "Holder", { cluster: "prod", events: true, alarmTopic: topic });

const of = (name: string) => EventField.fromPath(`$.detail.${name}`);
new Rule(stack, "HoldsToChat", {
  eventPattern: {
    source: ["karpenter-node-holder"],
    detailType: ["Hold Started", "Hold Capped", "Hold Ended"],
    detail: { cluster: ["prod"] },
  },
  targets: [
    new SnsTopic(topic, {
      message: RuleTargetInput.fromObject({
        version: "1.0",
        source: "custom",
        content: {
          title: `${EventField.detailType}: ${of("cluster")}, ${of("scope")}`,
          description: `${of("nodes")} nodes until ${of("until")}, because ${of("startedBecause")}`,
        },
        metadata: { threadId: of("holdId") },
      }),
    }),
  ],
});
app.synth();
