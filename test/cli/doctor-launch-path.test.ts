import { describe, expect, it } from "vitest";
import { json } from "../support/fake-aws.ts";
import { accountWhere, bodies } from "./account-where.ts";

it.each<[why: string, Entries: readonly object[] | undefined]>([
  ["no", [{ ErrorMessage: "no" }]],
  ["no reason given", [{}]],
  ["no reason given", []],
  ["no reason given", undefined],
])("fails where the bus refuses a probe, and says why: %s, by %o", async (why, Entries) => {
  const account = await accountWhere(() => json({ FailedEntryCount: 1, Entries }));
  await expect(account.putProbe("p", new Date(0), {})).rejects.toThrow(`the bus refused the probe: ${why}`);
});

describe("the rule of launches", () => {
  /** An account with rules that have the queue as a target; what it was asked, by action. */
  async function accountWith(
    rules: readonly string[] | undefined,
    rule: object,
    Targets?: readonly object[],
  ) {
    const asked: Record<string, unknown> = {};
    const account = await accountWhere(({ headers, body = "" }) => {
      const [, action = ""] = String(headers["x-amz-target"]).split(".");
      asked[action] = JSON.parse(body);
      if (action === "ListRuleNamesByTarget") return json({ RuleNames: rules });
      return json(action === "ListTargetsByRule" ? { Targets } : rule);
    });
    return { account, asked };
  }
  const launches = "karpenter-node-holder-prod-launches";

  it("is read with the dead-letter queue of its target", async () => {
    const rule = { Arn: "arn:rule", State: "ENABLED", EventPattern: '{"source":["aws.ec2"]}' };
    const { account, asked } = await accountWith(["other", launches], rule, [
      { Arn: "arn:another", DeadLetterConfig: { Arn: "arn:theirs" } },
      { Arn: "arn:q", DeadLetterConfig: { Arn: "arn:dead" } },
    ]);
    expect(await account.ruleTo("arn:q")).toEqual({
      ...{ name: launches, arn: "arn:rule", isEnabled: true },
      ...{ pattern: { source: ["aws.ec2"] }, deadLetterArn: "arn:dead" },
    });
    expect(asked).toEqual({
      ListRuleNamesByTarget: { TargetArn: "arn:q", Limit: 100 },
      DescribeRule: { Name: launches },
      ListTargetsByRule: { Rule: launches },
    });
  });

  it.each([
    undefined,
    [],
    [{ Arn: "arn:q" }],
    [{ Arn: "arn:another", DeadLetterConfig: { Arn: "arn:theirs" } }],
  ])("is another one that has the queue as its target, where it has none of ours: %o", async (targets) => {
    const { account } = await accountWith(["other"], { State: "DISABLED" }, targets);
    expect(await account.ruleTo("arn:q")).toEqual({
      ...{ name: "other", arn: "", isEnabled: false, pattern: null, deadLetterArn: "" },
    });
  });

  it.each([undefined, []])("is none where no rule has the queue as its target: %o", async (rules) => {
    const { account, asked } = await accountWith(rules, {});
    expect(await account.ruleTo("arn:q")).toBeUndefined();
    expect(Object.keys(asked)).toEqual(["ListRuleNamesByTarget"]);
  });

  it("is enabled by its name", async () => {
    const { account, asked } = await accountWith([], {});
    await account.enableRule(launches);
    expect(asked).toEqual({ EnableRule: { Name: launches } });
  });
});

describe("a queue", () => {
  const aQueue = { url: "https://sqs/q", arn: "arn:queue" };

  it("is found by the account and the name in its ARN, and read whole", async () => {
    const account = await accountWhere(() => json({ QueueUrl: "https://sqs/q" }));
    const nothing = { arn: "", waiting: 0, inFlight: 0, policy: null, deadLetterArn: "" };
    expect(await account.queue("arn:aws:sqs:eu-west-1:123:q")).toEqual({ url: "https://sqs/q", ...nothing });
    expect(bodies()).toEqual([
      { QueueName: "q", QueueOwnerAWSAccountId: "123" },
      { QueueUrl: "https://sqs/q", AttributeNames: ["All"] },
    ]);
  });

  it("has one more statement in its policy, so that the rule may send, and keeps what is in it by now", async () => {
    const policy = { Version: "2008-10-17", Id: "theirs", Statement: { Sid: "theirs" } };
    const account = await accountWhere(() => json({ Attributes: { Policy: JSON.stringify(policy) } }));
    await account.letRuleSend(aQueue, "arn:rule");
    const { Statement, ...rest } = JSON.parse(bodies()[1].Attributes.Policy);
    const [theirs, ours] = Statement;
    expect({ ...rest, Statement: theirs }).toEqual(policy);
    expect(ours).toEqual({
      Effect: "Allow",
      Principal: { Service: "events.amazonaws.com" },
      Action: ["sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"],
      Resource: "arn:queue",
      Condition: { ArnEquals: { "aws:SourceArn": "arn:rule" } },
    });
  });

  it("without a policy gets a whole one", async () => {
    const account = await accountWhere(() => json({ Attributes: { QueueArn: "arn:queue" } }));
    await account.letRuleSend(aQueue, "arn:rule");
    const { Version, Statement } = JSON.parse(bodies()[1].Attributes.Policy);
    expect([Version, Statement.map(Object.keys)]).toEqual([
      "2012-10-17",
      [["Effect", "Principal", "Action", "Resource", "Condition"]],
    ]);
  });
});
