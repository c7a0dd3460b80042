import {
  AssociateAccessPolicyCommand,
  CreateAccessEntryCommand,
  DeleteAccessEntryCommand,
  EKSClient,
} from "@aws-sdk/client-eks";
import { seconds } from "../../lambda/core/duration.ts";
import { createRole } from "./resources.ts";
import { type Check, inSeconds, judged, type Seen, type Smoke, whileNamed } from "./smoke.ts";

/** How long a new role and a new access entry are unknown; the holder waits two minutes for each. */
export function accessEntryChecks(smoke: Smoke): readonly Check[] {
  return [
    {
      assumption: "a new role can have an access entry, and the entry a policy",
      expected: "each within 30 s",
      look: () => associate(smoke),
    },
  ];
}

async function associate(smoke: Smoke): Promise<Seen> {
  const eks = new EKSClient(smoke.aws);
  const trust = { Effect: "Deny", Principal: { AWS: smoke.account } };
  const { arn: principalArn } = await createRole(smoke, "entry", trust);
  const entry = { clusterName: smoke.cluster, principalArn };
  smoke.cleanup.add(`access entry of ${principalArn}`, () => eks.send(new DeleteAccessEntryCommand(entry)));
  const began = Date.now();
  await whileNamed(smoke, "InvalidParameterException", () =>
    eks.send(new CreateAccessEntryCommand({ ...entry, type: "STANDARD" })),
  );
  const created = Date.now();
  // The role cannot be assumed, and the policy allows reads in one namespace only.
  const policyArn = `arn:${smoke.partition}:eks::aws:cluster-access-policy/AmazonEKSViewPolicy`;
  const accessScope = { type: "namespace" as const, namespaces: ["default"] };
  await whileNamed(smoke, "ResourceNotFoundException", () =>
    eks.send(new AssociateAccessPolicyCommand({ ...entry, policyArn, accessScope })),
  );
  const [toCreate, toAssociate] = [created - began, Date.now() - created];
  const seen = `entry after ${inSeconds(toCreate)}, policy ${inSeconds(toAssociate)} later`;
  return judged(toCreate <= seconds(30) && toAssociate <= seconds(30), seen);
}
