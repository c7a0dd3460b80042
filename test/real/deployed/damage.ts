import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import {
  GetRolePolicyCommand,
  IAMClient,
  ListRolePoliciesCommand,
  PutRolePolicyCommand,
} from "@aws-sdk/client-iam";
import { RbacAuthorizationV1Api, type V1PolicyRule } from "@kubernetes/client-node";
import { onTestFinished } from "vitest";
import type { Part } from "../../../infra/names.ts";
import { after, type Duration } from "../../../lambda/core/duration.ts";
import { holderName } from "../../../lambda/core/marks/keys.ts";
import { Environment } from "../../../lambda/environment.ts";
import { HoldTable, Kind } from "../../../lambda/record/item-table.ts";
import type { Emulator } from "../emulator/emulator.ts";
import type { DeployedCluster } from "./cluster.ts";

/** Repairs the damage; it also runs when the test ends. */
type Restore = () => Promise<void>;

/** Removes one permission from a function's role. */
export async function forbid(
  emulator: Emulator,
  cluster: DeployedCluster,
  part: Part,
  action: string,
): Promise<Restore> {
  const iam = emulator.client(IAMClient);
  const RoleName = (await cluster.role(part)).split("/").at(-1) ?? "";
  const { PolicyNames = [] } = await iam.send(new ListRolePoliciesCommand({ RoleName }));
  const PolicyName = PolicyNames[0] ?? "";
  const { PolicyDocument = "" } = await iam.send(new GetRolePolicyCommand({ RoleName, PolicyName }));
  const whole = decodeURIComponent(PolicyDocument);
  if (!whole.includes(`"${action}"`)) throw new Error(`${part} does not have ${action}`);
  const put = async (document: string) => {
    await iam.send(new PutRolePolicyCommand({ RoleName, PolicyName, PolicyDocument: document }));
  };
  const restore = () => put(whole);
  onTestFinished(restore);
  await put(whole.replaceAll(`"${action}"`, '"scheduler:ListSchedules"'));
  return restore;
}

/** Removes a verb from the holder's ClusterRole, for one kind of object or for all. */
export async function forbidInCluster(
  cluster: DeployedCluster,
  verb: string,
  resource?: string,
): Promise<Restore> {
  const rbac = cluster.config.makeApiClient(RbacAuthorizationV1Api);
  const { rules: whole = [] } = await rbac.readClusterRole({ name: holderName });
  const put = async (value: V1PolicyRule[]) => {
    await rbac.patchClusterRole({ name: holderName, body: [{ op: "replace", path: "/rules", value }] });
  };
  const restore = () => put(whole);
  onTestFinished(restore);
  const isMeant = (rule: V1PolicyRule) => resource === undefined || rule.resources?.includes(resource);
  const without = (rule: V1PolicyRule) => ({ ...rule, verbs: rule.verbs.filter((one) => one !== verb) });
  // A rule has one verb at least.
  await put(
    whole.map((rule) => (isMeant(rule) ? without(rule) : rule)).filter(({ verbs }) => verbs.length > 0),
  );
  return restore;
}

/** Moves all times of the record into the past by this much. */
export async function ageRecord(emulator: Emulator, cluster: DeployedCluster, by: Duration): Promise<void> {
  const TableName = (await cluster.environment("sweep"))[Environment.holdTable];
  const Key = { [HoldTable.partitionKey]: { S: Kind.record }, [HoldTable.sortKey]: { S: "cluster" } };
  const table = emulator.client(DynamoDBClient);
  const { Item = {} } = await table.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
  await table.send(new PutItemCommand({ TableName, Item: older(Item, by) }));
}

const older = (item: Record<string, AttributeValue>, by: Duration): Record<string, AttributeValue> =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, olderValue(value, by)]));

function olderValue(value: AttributeValue, by: Duration): AttributeValue {
  if (value.M) return { M: older(value.M, by) };
  if (value.L) return { L: value.L.map((one) => olderValue(one, by)) };
  const isMoment = value.S !== undefined && /^\d{4}-\d\d-\d\dT/.test(value.S);
  return isMoment ? { S: after(new Date(value.S ?? ""), -by).toISOString() } : value;
}
