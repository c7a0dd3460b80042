import {
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { unlessGone } from "../../aws-errors.ts";
import type { AwsConfig } from "../../terminal/cluster-flags.ts";
import { countIn, textIn } from "../checks/answered.ts";
import type { QueueFacts } from "./account.ts";

/** The holder's queues. */
export class AwsQueues {
  readonly #sqs: SQSClient;

  constructor(config: AwsConfig) {
    this.#sqs = new SQSClient(config);
  }

  async find(urlOrArn: string): Promise<QueueFacts | undefined> {
    return unlessGone(async () => {
      const url = urlOrArn.startsWith("arn:") ? await this.#urlOf(urlOrArn) : urlOrArn;
      const { Attributes = {} } = await this.#sqs.send(
        new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["All"] }),
      );
      const deadLetterArn = Object(parse(Attributes.RedrivePolicy)).deadLetterTargetArn;
      return {
        url,
        arn: textIn(Attributes.QueueArn) ?? "",
        waiting: countIn(Attributes.ApproximateNumberOfMessages),
        inFlight: countIn(Attributes.ApproximateNumberOfMessagesNotVisible),
        policy: parse(Attributes.Policy),
        ...(typeof deadLetterArn === "string" && { deadLetterArn }),
      };
    });
  }

  /** Adds what is missing and leaves every other statement as it is. */
  async letRuleSend({ url, arn, policy }: QueueFacts, ruleArn: string): Promise<void> {
    const { Statement = [] } = Object(policy);
    const statement = {
      Effect: "Allow",
      Principal: { Service: "events.amazonaws.com" },
      Action: ["sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"],
      Resource: arn,
      Condition: { ArnEquals: { "aws:SourceArn": ruleArn } },
    };
    const Policy = JSON.stringify({ Version: "2012-10-17", Statement: [...Statement, statement] });
    await this.#sqs.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { Policy } }));
  }

  async #urlOf(arn: string): Promise<string> {
    const [, , , , QueueOwnerAWSAccountId, QueueName] = arn.split(":");
    const command = new GetQueueUrlCommand({
      QueueName,
      ...(QueueOwnerAWSAccountId && { QueueOwnerAWSAccountId }),
    });
    return textIn((await this.#sqs.send(command)).QueueUrl) ?? "";
  }
}

function parse(text: string | undefined): unknown {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
