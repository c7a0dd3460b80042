import { Stack, type StackProps } from "aws-cdk-lib";
import { Topic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { KarpenterNodeHolder } from "./node-holder.ts";
import type { ContextSettings } from "./settings/context.ts";

/** The repository's own stack: one holder for one cluster, with outputs for its operator. */
export class HolderStack extends Stack {
  constructor(scope: Construct, id: string, settings: ContextSettings, props: StackProps) {
    super(scope, id, props);
    const { alarmTopicArn } = settings;
    const alarmTopic = alarmTopicArn && Topic.fromTopicArn(this, "AlarmTopic", alarmTopicArn);
    const holder = new KarpenterNodeHolder(this, "Holder", {
      ...settings.props,
      ...(alarmTopic && { alarmTopic }),
    });

    holder.addOutputs(this);
  }
}
