import {
  GetRolePolicyCommand,
  IAMClient,
  ListRolePoliciesCommand,
  PutRolePolicyCommand,
} from "@aws-sdk/client-iam";
import { RbacAuthorizationV1Api, type V1PolicyRule } from "@kubernetes/client-node";
import { onTestFinished } from "vitest";
import { holderName } from "../../../lambda/core/marks/keys.ts";
import type { Part } from "../../../lambda/names.ts";
import type { Emulator } from "../emulator/emulator.ts";
import type { DeployedCluster } from "./cluster.ts";

/** Removes one permission from a function's role; returns a function that restores it, which also runs when the test ends. */
export async function forbid(
  emulator: Emulator,
  cluster: DeployedCluster,
  part: Part,
  action: string,
): Promise<() => Promise<void>> {
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

/** Removes a verb from the holder's ClusterRole; returns a function that restores it, which also runs when the test ends. */
export async function forbidInCluster(cluster: DeployedCluster, verb: string): Promise<() => Promise<void>> {
  const rbac = cluster.config.makeApiClient(RbacAuthorizationV1Api);
  const role = await rbac.readClusterRole({ name: holderName });
  const whole = role.rules ?? [];
  const put = async (rules: V1PolicyRule[]) => {
    await rbac.patchClusterRole({
      name: holderName,
      body: [{ op: "replace", path: "/rules", value: rules }],
    });
  };
  const restore = () => put(whole);
  onTestFinished(restore);
  await put(whole.map((rule) => ({ ...rule, verbs: rule.verbs.filter((one) => one !== verb) })));
  return restore;
}
