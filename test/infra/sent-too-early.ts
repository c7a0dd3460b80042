import type { Template } from "aws-cdk-lib/assertions";
import { dependenciesOf, idsOf, type Resources, referencesIn, shares, type Value } from "./template-graph.ts";

/**
 * What could send before it may: a rule sends from its first moment on, and what a queue's policy does not admit then
 * is lost. Only the timer of the sweep is left out, whose next event does the same.
 */
export function sentTooEarly(template: Template): readonly string[] {
  const resources: Resources = template.toJSON().Resources;
  const rules = idsOf(
    resources,
    (type, { EventPattern }) => type === "AWS::Events::Rule" && EventPattern !== undefined,
  );
  return rules.flatMap((rule) => {
    const after = dependenciesOf(resources, rule);
    const { Name, Targets } = Object(resources[rule]?.Properties);
    const ends: Value[] = [Targets]
      .flat()
      .flatMap(({ Arn, DeadLetterConfig }) => [Arn, DeadLetterConfig?.Arn]);
    const isQueue = (id: string) => resources[id]?.Type === "AWS::SQS::Queue";
    return ends
      .filter((end) => referencesIn(end).some(isQueue))
      .flatMap((queue) => {
        const policies = idsOf(
          resources,
          (type, { Queues, PolicyDocument }) =>
            type === "AWS::SQS::QueuePolicy" && shares(Queues, queue) && admits(PolicyDocument, Name),
        );
        const name = referencesIn(queue).join();
        if (policies.length === 0) return [`no policy of ${name} admits ${rule}`];
        return policies
          .filter((id) => !after.has(id))
          .map((id) => `${rule} does not wait for ${id} of ${name}`);
      });
  });
}

/** Whether a policy lets the bus send for this rule, by the rule's name. */
const admits = (document: Value, name: Value): boolean =>
  [Object(document).Statement]
    .flat()
    .some(
      ({ Effect, Principal, Condition }) =>
        Effect === "Allow" &&
        Object(Principal).Service === "events.amazonaws.com" &&
        JSON.stringify(Condition)?.includes(`:rule/${name}"`),
    );
