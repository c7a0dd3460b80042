import {
  Annotations,
  Aspects,
  CfnResource,
  DefaultTokenResolver,
  type IPostProcessor,
  type IResolvable,
  type IResolveContext,
  Reference,
  Stack,
  StringConcat,
  Tokenization,
} from "aws-cdk-lib";
import { type Alarm, CfnAlarm } from "aws-cdk-lib/aws-cloudwatch";
import type { Construct, IConstruct } from "constructs";

/**
 * CloudWatch may not use AWS's own key of SNS, whose policy no one can change: what it sends to such a topic is lost,
 * without an error. An error of the synthesis, at its end, because an app may add actions until then.
 */
export function refuseUnusableTopics(construct: Construct, alarms: readonly Alarm[]): void {
  const visit = (node: IConstruct) => {
    if (node !== construct) return;
    const topics = new Set(alarms.flatMap(actionsOf).filter(hasKeyOfAws));
    for (const topic of topics)
      Annotations.of(construct).addError(
        `No alarm reaches the topic ${topic.node.scope?.node.path}: it is encrypted with ${keyOfAws}, which CloudWatch ` +
          "may not use. Give it a key whose policy lets in cloudwatch.amazonaws.com (kms:Decrypt, kms:GenerateDataKey*)",
      );
  };
  Aspects.of(construct).add({ visit });
}

const keyOfAws = "alias/aws/sns";

/** What an alarm's actions refer to. */
function actionsOf({ node }: Alarm): readonly IConstruct[] {
  const resource = node.defaultChild;
  if (!(resource instanceof CfnAlarm)) return [];
  const resolver = new References();
  const { alarmActions, okActions } = resource;
  Tokenization.resolve([alarmActions, okActions], { scope: resource, resolver, preparing: false });
  return resolver.targets;
}

/** A topic by its type: an app may have the CDK twice. The key is an alias, or an ARN that ends in it. */
const hasKeyOfAws = (one: IConstruct): boolean =>
  CfnResource.isCfnResource(one) &&
  one.cfnResourceType === "AWS::SNS::Topic" &&
  JSON.stringify(Stack.of(one).resolve(Reflect.get(one, "kmsMasterKeyId")))?.includes(`${keyOfAws}"`) ===
    true;

/** Remembers what the references that it resolves are to. */
class References extends DefaultTokenResolver {
  readonly targets: IConstruct[] = [];

  constructor() {
    super(new StringConcat());
  }

  override resolveToken(token: IResolvable, context: IResolveContext, after: IPostProcessor): unknown {
    if (Reference.isReference(token)) this.targets.push(token.target);
    return super.resolveToken(token, context, after);
  }
}
