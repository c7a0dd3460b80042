import {
  DescribeRuleCommand,
  EnableRuleCommand,
  EventBridgeClient,
  ListRuleNamesByTargetCommand,
  ListRulesCommand,
  ListTargetsByRuleCommand,
  PutEventsCommand,
} from "@aws-sdk/client-eventbridge";
import { probeDetailType, probeSource } from "../../../lambda/handlers/event-sources.ts";
import type { AwsConfig } from "../../terminal/cluster-flags.ts";
import { textIn } from "../checks/answered.ts";
import type { RuleFacts } from "./account.ts";

type Rule = Readonly<Partial<Record<"Name" | "Arn" | "State" | "EventPattern", string | undefined>>>;

/** The default event bus. */
export class AwsBus {
  readonly #events: EventBridgeClient;
  readonly #cluster: string;

  constructor(config: AwsConfig, cluster: string) {
    this.#events = new EventBridgeClient(config);
    this.#cluster = cluster;
  }

  async launchRule(): Promise<RuleFacts | undefined> {
    let NextToken: string | undefined;
    let before: string | undefined;
    do {
      before = NextToken;
      const page = await this.#events.send(new ListRulesCommand({ ...(NextToken && { NextToken }) }));
      const found = page.Rules?.find((rule) => isFor(this.#cluster, parse(rule.EventPattern)));
      if (found) return this.#facts(found);
      NextToken = page.NextToken;
    } while (NextToken && NextToken !== before);
    return undefined;
  }

  async ruleThatTargets(TargetArn: string): Promise<RuleFacts | undefined> {
    const { RuleNames = [] } = await this.#events.send(new ListRuleNamesByTargetCommand({ TargetArn }));
    const Name = textIn(RuleNames[0]);
    return Name ? this.#facts(await this.#events.send(new DescribeRuleCommand({ Name }))) : undefined;
  }

  async enableRule(Name: string): Promise<void> {
    await this.#events.send(new EnableRuleCommand({ Name }));
  }

  async putProbe(id: string, sentAt: Date): Promise<void> {
    const detail = { id, cluster: this.#cluster, sentAt: sentAt.toISOString() };
    const Entries = [{ Source: probeSource, DetailType: probeDetailType, Detail: JSON.stringify(detail) }];
    const { FailedEntryCount, Entries: answers } = await this.#events.send(new PutEventsCommand({ Entries }));
    if (FailedEntryCount)
      throw new Error(
        `the bus refused the probe: ${textIn(answers?.[0]?.ErrorMessage) ?? "no reason given"}`,
      );
  }

  async #facts({ Name, Arn, State, EventPattern }: Rule): Promise<RuleFacts> {
    const name = textIn(Name) ?? "";
    const { Targets = [] } = await this.#events.send(new ListTargetsByRuleCommand({ Rule: name }));
    const targets = Targets.map((target) => {
      const deadLetterArn = textIn(target.DeadLetterConfig?.Arn);
      return { arn: textIn(target.Arn) ?? "", ...(deadLetterArn && { deadLetterArn }) };
    });
    const pattern = parse(EventPattern);
    return { name, arn: textIn(Arn) ?? "", isEnabled: State === "ENABLED", pattern, targets };
  }
}

/** Whether a pattern matches this cluster's probes. */
function isFor(cluster: string, pattern: unknown): boolean {
  const { $or } = Object(pattern);
  const alternatives: unknown[] = Array.isArray($or) ? $or : [pattern];
  return alternatives.some((one) => {
    const { source, detail } = Object(one);
    return includes(source, probeSource) && includes(Object(detail).cluster, cluster);
  });
}

const includes = (list: unknown, value: string): boolean => Array.isArray(list) && list.includes(value);

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return undefined;
  }
}
