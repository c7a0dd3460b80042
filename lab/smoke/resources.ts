import { CreateRoleCommand, DeleteRoleCommand, IAMClient } from "@aws-sdk/client-iam";
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { Smoke } from "./smoke.ts";

/** A policy document of one statement. */
export const policyOf = (statement: object): string =>
  JSON.stringify({ Version: "2012-10-17", Statement: [{ Effect: "Allow", ...statement }] });

/** A temporary role that this may assume. */
export async function createRole(smoke: Smoke, suffix: string, trust: object) {
  const iam = new IAMClient(smoke.aws);
  const RoleName = `${smoke.prefix}-${suffix}`;
  smoke.cleanup.add(`role ${RoleName}`, () => iam.send(new DeleteRoleCommand({ RoleName })));
  const AssumeRolePolicyDocument = policyOf({ Action: "sts:AssumeRole", ...trust });
  const { Role } = await iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument }));
  return { iam, name: RoleName, arn: Role?.Arn ?? "" };
}

/** A temporary queue. */
export async function createQueue(smoke: Smoke, suffix: string) {
  const sqs = new SQSClient(smoke.aws);
  const QueueName = `${smoke.prefix}-${suffix}`;
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName }));
  smoke.cleanup.add(`queue ${QueueName}`, () => sqs.send(new DeleteQueueCommand({ QueueUrl })));
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["QueueArn"] });
  const { Attributes } = await sqs.send(asked);
  return { sqs, url: QueueUrl, arn: Attributes?.QueueArn ?? "" };
}
