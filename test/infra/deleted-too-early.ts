import type { Template } from "aws-cdk-lib/assertions";
import { accessResource, adminRightResource } from "../../lambda/cluster-access/template-names.ts";
import { dependenciesOf, idsOf, type Resources, referencesIn, shares } from "./template-graph.ts";

/**
 * What a destroy could delete before the clean-up of the cluster is done. CloudFormation deletes at once what nothing
 * depends on, and all of that side by side. So what a custom resource needs for its clean-up is there only if the custom
 * resource depends on it.
 */
export function deletedTooEarly(template: Template): readonly string[] {
  const resources: Resources = template.toJSON().Resources;
  for (const id of Object.keys(resources))
    if (dependenciesOf(resources, id).has(id)) throw new Error(`${id} depends on itself`);
  const cleaners = idsOf(resources, (type) => [accessResource, adminRightResource].includes(type));
  return cleaners.flatMap((cleaner) => {
    const after = dependenciesOf(resources, cleaner);
    return neededBy(resources, cleaner)
      .filter((id) => !after.has(id))
      .map((id) => `${cleaner} needs ${id} (${resources[id]?.Type}), and does not depend on it`);
  });
}

/** The resources without which the function of a custom resource does not run, or does not reach EKS and the cluster. */
const neededBy = (resources: Resources, cleaner: string): readonly string[] =>
  functionsOf(resources, cleaner).flatMap((fn) => {
    const { Role, LoggingConfig, VpcConfig } = resources[fn]?.Properties ?? {};
    const policies = idsOf(
      resources,
      (type, { Roles }) => type === "AWS::IAM::Policy" && shares(Roles, Role),
    );
    if (policies.length === 0) throw new Error(`${fn} has no rights`);
    // In a stack with these functions, all of the network counts as on their way.
    const network = VpcConfig ? idsOf(resources, (type) => type.startsWith("AWS::EC2::")) : [];
    return [fn, ...referencesIn(Role), ...policies, ...referencesIn(LoggingConfig), ...network];
  });

/** The function that CloudFormation calls, and the one that this calls. */
function functionsOf(resources: Resources, cleaner: string): readonly string[] {
  const isFunction = (id: string) => resources[id]?.Type === "AWS::Lambda::Function";
  const called = referencesIn(resources[cleaner]?.Properties?.ServiceToken).filter(isFunction);
  const behind = called
    .flatMap((id) => referencesIn(resources[id]?.Properties?.Environment))
    .filter(isFunction);
  return [...called, ...behind];
}
