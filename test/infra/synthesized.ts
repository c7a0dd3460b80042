import { App, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { DISABLE_ASSET_STAGING_CONTEXT, DISABLE_CREATION_STACK_TRACES } from "aws-cdk-lib/cx-api";
import { KarpenterNodeHolder, type KarpenterNodeHolderProps } from "../../infra/index.ts";
import type { HolderVpcIds } from "../../infra/network.ts";
import { readContext } from "../../infra/settings/context.ts";
import { settingsTable } from "../../infra/settings/deployment.ts";
import { otherValues } from "../support/other-values.ts";

type Properties = Readonly<Record<string, unknown>>;
export type Resource = Readonly<{
  Type: string;
  Properties: Properties;
  DependsOn?: string[];
  DeletionPolicy?: string;
}>;

/** Copies no code of functions, which a template names by its hash, and keeps no stack trace of each resource. */
export const quick = { [DISABLE_ASSET_STAGING_CONTEXT]: true, [DISABLE_CREATION_STACK_TRACES]: true };

export const newApp = (context: object = {}): App =>
  new App({ treeMetadata: false, context: { ...quick, ...context } });

/** The template of a stack. */
export function templateOf(fill: (stack: Stack) => void, context: object = {}): Template {
  const stack = new Stack(newApp(context), "Test");
  fill(stack);
  return Template.fromStack(stack);
}

const known = new Map<string, Template>();

/** The template of a stack with one holder; synthesized once for all tests of a process. */
export function synthesize(props: Partial<KarpenterNodeHolderProps> = {}): Template {
  const key = JSON.stringify(props);
  const template = known.get(key) ?? synthesizeWith(() => {}, props);
  known.set(key, template);
  return template;
}

/** The template of a stack with one holder to which something was added. */
export const synthesizeWith = (
  add: (holder: KarpenterNodeHolder) => unknown,
  props: Partial<KarpenterNodeHolderProps> = {},
): Template =>
  templateOf((stack) => add(new KarpenterNodeHolder(stack, "Holder", { cluster: "prod", ...props })));

let everything: Template | undefined;

/** The template with every option set to something else than its default, but for what would leave resources out. */
export function synthesizeEverything(): Template {
  const whole = { cluster: "prod", access: "install", monitoring: "full", alarms: "" };
  const { props, alarmTopicArn } = readContext({ ...otherValues(settingsTable), ...whole });
  const vpc = { ...(props.vpc as HolderVpcIds), clusterSecurityGroupIds: ["sg-0123456789abcdef1"] };
  everything ??= templateOf((stack) => {
    const alarmTopic = Topic.fromTopicArn(stack, "Topic", alarmTopicArn);
    new KarpenterNodeHolder(stack, "Holder", { ...props, vpc, alarmTopic });
  });
  return everything;
}

export const resourcesOf = (template: Template, type: string): ReadonlyMap<string, Resource> =>
  new Map(Object.entries(template.findResources(type) as Record<string, Resource>));

/** What is deployed as one of our functions. */
export const functionIn = (template: Template, part: string): Properties | undefined =>
  [...resourcesOf(template, "AWS::Lambda::Function").values()].find(
    ({ Properties }) => Properties.FunctionName === `karpenter-node-holder-prod-${part}`,
  )?.Properties;

export const everyResource = (template: Template): readonly Resource[] =>
  Object.values(template.toJSON().Resources as Record<string, Resource>);

export type Statement = Readonly<{
  Effect: unknown;
  Action: string[];
  Resource: unknown[];
  Condition?: unknown;
}>;

/** What the role of a function, named by a part of its logical id, is allowed. */
export const allowed = (template: Template, role: string): readonly Statement[] =>
  statements(template, role).filter(({ Effect }) => Effect === "Allow");

export const denied = (template: Template, role: string): readonly Statement[] =>
  statements(template, role).filter(({ Effect }) => Effect === "Deny");

const statements = (template: Template, role: string): readonly Statement[] =>
  [...resourcesOf(template, "AWS::IAM::Policy").values()]
    .filter((policy) => JSON.stringify(policy.Properties.Roles).includes(role))
    .flatMap((policy) => (policy.Properties.PolicyDocument as { Statement: Properties[] }).Statement)
    .map(({ Effect, Action, Resource, Condition }) => ({
      Effect,
      Action: [Action].flat() as string[],
      Resource: [Resource].flat(),
      Condition,
    }));

export const actions = (statements: readonly Statement[]): readonly string[] =>
  [...new Set(statements.flatMap((statement) => statement.Action))].sort();
