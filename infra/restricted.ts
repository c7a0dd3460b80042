import { Aspects, Stack } from "aws-cdk-lib";
import { CfnTable } from "aws-cdk-lib/aws-dynamodb";
import { CfnRole, PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { CfnLogGroup } from "aws-cdk-lib/aws-logs";
import { CfnQueue } from "aws-cdk-lib/aws-sqs";
import type { Construct, IConstruct } from "constructs";
import type { HolderFunction } from "./functions/holder-function.ts";
import type { Plan } from "./settings/plan.ts";

type Restrictions = Pick<Plan, "permissionsBoundaryArn" | "rolePath" | "kmsKeyArn">;

/** Gives all roles the boundary and path, and all that stores something the key, which an organisation may demand. */
export function restrict(
  holder: Construct,
  functions: readonly HolderFunction[],
  restrictions: Restrictions,
): void {
  const { kmsKeyArn } = restrictions;
  if (kmsKeyArn) for (const { role } of functions) mayUseKey(role, kmsKeyArn);
  Aspects.of(holder).add({ visit: (node) => change(node, restrictions) });
}

function change(node: IConstruct, { permissionsBoundaryArn, rolePath, kmsKeyArn }: Restrictions): void {
  if (node instanceof CfnRole) {
    if (permissionsBoundaryArn) node.permissionsBoundary = permissionsBoundaryArn;
    if (rolePath) node.path = rolePath;
  }
  if (!kmsKeyArn) return;
  if (node instanceof CfnLogGroup) node.kmsKeyId = kmsKeyArn;
  if (node instanceof CfnTable)
    node.sseSpecification = { sseEnabled: true, sseType: "KMS", kmsMasterKeyId: kmsKeyArn };
  if (node instanceof CfnQueue) {
    node.sqsManagedSseEnabled = undefined;
    node.kmsMasterKeyId = kmsKeyArn;
  }
}

/** Table and queues use the key in the name of who calls them. */
export function mayUseKey(role: Role, kmsKeyArn: string): void {
  const { region, urlSuffix } = Stack.of(role);
  role.addToPolicy(
    new PolicyStatement({
      actions: ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"],
      resources: [kmsKeyArn],
      conditions: {
        StringEquals: {
          "kms:ViaService": ["dynamodb", "sqs"].map((service) => `${service}.${region}.${urlSuffix}`),
        },
      },
    }),
  );
}
