import { EventBridge } from "@aws-sdk/client-eventbridge";
import { SQS } from "@aws-sdk/client-sqs";
import * as v from "valibot";
import { ruleName } from "../../../infra/names.ts";
import { probeDetailType, probeSource } from "../../../lambda/handlers/event-sources.ts";
import { unlessGone } from "../../aws-errors.ts";
import type { AwsConfig } from "../../terminal/cluster-flags.ts";

/** The default event bus, and the holder's queues. */
export function awsLaunchPath(config: AwsConfig, cluster: string) {
  const events = new EventBridge(config);
  const sqs = new SQS(config);

  async function readQueue(urlOrArn: string) {
    const url = urlOrArn.startsWith("arn:") ? await urlOf(urlOrArn) : urlOrArn;
    const { Attributes = {} } = await sqs.getQueueAttributes({ QueueUrl: url, AttributeNames: ["All"] });
    return {
      url,
      arn: Attributes.QueueArn ?? "",
      waiting: Number(Attributes.ApproximateNumberOfMessages ?? 0),
      inFlight: Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0),
      policy: parsed(Attributes.Policy),
      deadLetterArn: String(Object(parsed(Attributes.RedrivePolicy)).deadLetterTargetArn ?? ""),
    };
  }

  async function urlOf(arn: string): Promise<string> {
    const [, , , , QueueOwnerAWSAccountId, QueueName] = arn.split(":");
    return (await sqs.getQueueUrl({ QueueName, QueueOwnerAWSAccountId })).QueueUrl ?? "";
  }

  return {
    /** The rule that has this target: that of launches, where rules of events have it, too. */
    async ruleTo(TargetArn: string) {
      const { RuleNames = [] } = await events.listRuleNamesByTarget({ TargetArn, Limit: 100 });
      const launches = ruleName(cluster, "launches");
      const name = RuleNames.find((one) => one === launches) ?? RuleNames[0] ?? "";
      if (name === "") return undefined;
      const [rule, { Targets = [] }] = await Promise.all([
        events.describeRule({ Name: name }),
        events.listTargetsByRule({ Rule: name }),
      ]);
      const target = Targets.find(({ Arn }) => Arn === TargetArn);
      return {
        name,
        arn: rule.Arn ?? "",
        isEnabled: rule.State === "ENABLED",
        pattern: parsed(rule.EventPattern),
        deadLetterArn: target?.DeadLetterConfig?.Arn ?? "",
      };
    },

    enableRule: (Name: string): Promise<unknown> => events.enableRule({ Name }),

    /** Puts a probe on the bus, which the launch rule matches only with its key. */
    async putProbe(id: string, sentAt: Date, rulePattern: unknown): Promise<void> {
      const detail = { id, cluster, key: probeKeyIn(rulePattern), sentAt: sentAt.toISOString() };
      const probe = { Source: probeSource, DetailType: probeDetailType, Detail: JSON.stringify(detail) };
      const { FailedEntryCount, Entries } = await events.putEvents({ Entries: [probe] });
      const why = Entries?.[0]?.ErrorMessage ?? "no reason given";
      if (FailedEntryCount) throw new Error(`the bus refused the probe: ${why}`);
    },

    queue: (urlOrArn: string) => unlessGone(readQueue(urlOrArn)),

    /** Adds what is missing and leaves everything else as it is by now. */
    async letRuleSend({ url, arn }: Readonly<{ url: string; arn: string }>, ruleArn: string): Promise<void> {
      const { Version = "2012-10-17", Statement = [], ...rest } = Object((await readQueue(url)).policy);
      const statement = {
        Effect: "Allow",
        Principal: { Service: "events.amazonaws.com" },
        Action: ["sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"],
        Resource: arn,
        Condition: { ArnEquals: { "aws:SourceArn": ruleArn } },
      };
      const Policy = JSON.stringify({ ...rest, Version, Statement: [Statement, statement].flat() });
      await sqs.setQueueAttributes({ QueueUrl: url, Attributes: { Policy } });
    },
  };
}

/** What JSON in an answer has; null where there is none. */
const parsed = (text: string | undefined): unknown => JSON.parse(text || "null");

const withProbes = v.object({
  $or: v.tuple([v.unknown(), v.object({ detail: v.object({ key: v.tuple([v.string()]) }) })]),
});

/** The key without which the launch rule does not match a probe. */
export const probeKeyIn = (pattern: unknown): string | undefined =>
  v.is(withProbes, pattern) ? pattern.$or[1].detail.key[0] : undefined;
