import {
  DescribeRuleCommand,
  EnableRuleCommand,
  EventBridgeClient,
  ListRuleNamesByTargetCommand,
  ListRulesCommand,
  ListTargetsByRuleCommand,
  PutEventsCommand,
} from "@aws-sdk/client-eventbridge";
import {
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { probeDetailType, probeSource } from "../../../lambda/handlers/event-sources.ts";
import { unlessGone } from "../../aws-errors.ts";
import type { AwsConfig } from "../../terminal/cluster-flags.ts";
import { type Account, countIn, type QueueFacts, type RuleFacts, textIn } from "./account.ts";

type Rule = Readonly<Partial<Record<"Name" | "Arn" | "State" | "EventPattern", string | undefined>>>;

type Bus = Pick<Account, "launchRule" | "ruleThatTargets" | "enableRule" | "putProbe">;

/** The default event bus. */
export function awsBus(config: AwsConfig, cluster: string): Bus {
  const events = new EventBridgeClient(config);

  async function launchRule(): Promise<RuleFacts | undefined> {
    let NextToken: string | undefined;
    let before: string | undefined;
    do {
      before = NextToken;
      const page = await events.send(new ListRulesCommand({ ...(NextToken && { NextToken }) }));
      const found = page.Rules?.find((rule) => probeIn(cluster, parse(rule.EventPattern)));
      if (found) return factsOf(found);
      NextToken = page.NextToken;
    } while (NextToken && NextToken !== before);
    return undefined;
  }

  async function ruleThatTargets(TargetArn: string): Promise<RuleFacts | undefined> {
    const { RuleNames = [] } = await events.send(new ListRuleNamesByTargetCommand({ TargetArn }));
    const Name = textIn(RuleNames[0]);
    return Name ? factsOf(await events.send(new DescribeRuleCommand({ Name }))) : undefined;
  }

  async function enableRule(Name: string): Promise<void> {
    await events.send(new EnableRuleCommand({ Name }));
  }

  async function putProbe(id: string, sentAt: Date): Promise<void> {
    const key = probeKeyIn(cluster, (await launchRule())?.pattern);
    const detail = { id, cluster, key, sentAt: sentAt.toISOString() };
    const Entries = [{ Source: probeSource, DetailType: probeDetailType, Detail: JSON.stringify(detail) }];
    const { FailedEntryCount, Entries: answers } = await events.send(new PutEventsCommand({ Entries }));
    if (FailedEntryCount)
      throw new Error(
        `the bus refused the probe: ${textIn(answers?.[0]?.ErrorMessage) ?? "no reason given"}`,
      );
  }

  async function factsOf({ Name, Arn, State, EventPattern }: Rule): Promise<RuleFacts> {
    const name = textIn(Name) ?? "";
    const { Targets = [] } = await events.send(new ListTargetsByRuleCommand({ Rule: name }));
    const targets = Targets.map((target) => {
      const deadLetterArn = textIn(target.DeadLetterConfig?.Arn);
      return { arn: textIn(target.Arn) ?? "", ...(deadLetterArn && { deadLetterArn }) };
    });
    const pattern = parse(EventPattern);
    return { name, arn: textIn(Arn) ?? "", isEnabled: State === "ENABLED", pattern, targets };
  }

  return { launchRule, ruleThatTargets, enableRule, putProbe };
}

/** The holder's queues. */
export function awsQueues(config: AwsConfig): Pick<Account, "queue" | "letRuleSend"> {
  const sqs = new SQSClient(config);

  async function queue(urlOrArn: string): Promise<QueueFacts | undefined> {
    return unlessGone(async () => {
      const url = urlOrArn.startsWith("arn:") ? await urlOf(urlOrArn) : urlOrArn;
      const { Attributes = {} } = await sqs.send(
        new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["All"] }),
      );
      const deadLetterArn = textIn(Object(parse(Attributes.RedrivePolicy)).deadLetterTargetArn);
      return {
        url,
        arn: textIn(Attributes.QueueArn) ?? "",
        waiting: countIn(Attributes.ApproximateNumberOfMessages),
        inFlight: countIn(Attributes.ApproximateNumberOfMessagesNotVisible),
        policy: parse(Attributes.Policy),
        ...(deadLetterArn && { deadLetterArn }),
      };
    });
  }

  /** Adds what is missing and leaves every other statement as it is. */
  async function letRuleSend({ url, arn, policy }: QueueFacts, ruleArn: string): Promise<void> {
    const { Statement = [] } = Object(policy);
    const statement = {
      Effect: "Allow",
      Principal: { Service: "events.amazonaws.com" },
      Action: ["sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"],
      Resource: arn,
      Condition: { ArnEquals: { "aws:SourceArn": ruleArn } },
    };
    const Policy = JSON.stringify({ Version: "2012-10-17", Statement: [...Statement, statement] });
    await sqs.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { Policy } }));
  }

  async function urlOf(arn: string): Promise<string> {
    const [, , , , QueueOwnerAWSAccountId, QueueName] = arn.split(":");
    const command = new GetQueueUrlCommand({
      QueueName,
      ...(QueueOwnerAWSAccountId && { QueueOwnerAWSAccountId }),
    });
    return textIn((await sqs.send(command)).QueueUrl) ?? "";
  }

  return { queue, letRuleSend };
}

/** What a pattern expects of this cluster's probes; undefined if it matches none. */
function probeIn(cluster: string, pattern: unknown): Readonly<Record<string, unknown>> | undefined {
  const { $or } = Object(pattern);
  const alternatives: unknown[] = Array.isArray($or) ? $or : [pattern];
  const found = alternatives.find((one) => {
    const { source, detail } = Object(one);
    return includes(source, probeSource) && includes(Object(detail).cluster, cluster);
  });
  return found && Object(Object(found).detail);
}

/** The key without which a probe does not match. */
export const probeKeyIn = (cluster: string, pattern: unknown): unknown =>
  [probeIn(cluster, pattern)?.key].flat()[0];

const includes = (list: unknown, value: string): boolean => Array.isArray(list) && list.includes(value);

function parse(text: string | undefined): unknown {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
