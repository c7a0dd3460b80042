import * as cdk from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/** Accepts findings of the security checks on a resource, with the reason why they are right here. */
export function acknowledge(resource: IConstruct, findings: Readonly<Record<string, string>>): void {
  // A CDK of 2025 has no such checks, and does not export this name.
  if (!("Validations" in cdk)) return;
  const validations = cdk.Validations.of(resource);
  for (const [id, reason] of Object.entries(findings)) validations.acknowledge({ id, reason });
}

/** Accepts that a role may act on all resources that begin like this ARN. */
export function acknowledgeWildcard(role: IConstruct, arn: string, reason: string): void {
  acknowledge(role, { [`AwsSolutions-IAM5[Resource::${flat(cdk.Stack.of(role).resolve(arn))}]`]: reason });
}

// The checks write a reference as <Name> or <Name.Attribute>.
function flat(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  if ("Ref" in value) return `<${value.Ref}>`;
  if ("Fn::GetAtt" in value && Array.isArray(value["Fn::GetAtt"]))
    return `<${value["Fn::GetAtt"].join(".")}>`;
  if ("Fn::Join" in value && Array.isArray(value["Fn::Join"])) {
    const [, pieces] = value["Fn::Join"];
    return Array.isArray(pieces) ? pieces.map(flat).join("") : "";
  }
  return "";
}
