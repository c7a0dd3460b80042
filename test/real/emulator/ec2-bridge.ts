import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { Plane } from "../engines/control-plane.ts";
import { type Admission, admitBy, type Verdict } from "../worlds/admission.ts";
import type { World } from "../worlds/world.ts";

/** Where NodeClaims become instances. */
export type Ec2 = Readonly<{
  launch(nodePool: string): Promise<string>;
  terminate(instance: string): Promise<void>;
}>;

/** On a NodeClaim; Karpenter's kwok provider copies it to the Node. */
const instanceKey = "proving-ground/instance";

/**
 * Makes each NodeClaim an instance of EC2, as Karpenter's AWS provider does: launched when Karpenter writes the NodeClaim,
 * named in the provider id of the NodeClaim and of its Node, terminated when the NodeClaim goes. Karpenter is unchanged:
 * the API server asks us about what Karpenter writes. Returns how this is ended.
 */
export async function bridgeToEc2<P extends Plane>(world: World<P>, ec2: Ec2): Promise<() => Promise<void>> {
  const rules = [
    {
      apiGroup: "karpenter.sh",
      operations: ["CREATE", "UPDATE", "DELETE"],
      resources: ["nodeclaims", "nodeclaims/status"],
    },
    { apiGroup: "", operations: ["CREATE"], resources: ["nodes"] },
  ];
  return admitBy(world, "ec2-bridge", rules, (asked) => judge(asked, ec2));
}

async function judge(asked: Admission, ec2: Ec2): Promise<Verdict> {
  if (asked.dryRun) return {};
  if (asked.resource === "nodes") return renamed(asked, "spec");
  if (asked.subResource === "status") return renamed(asked, "status");
  if (asked.operation === "CREATE") return launched(asked, ec2);
  if (asked.operation === "DELETE") return mayGo(asked);
  const { deletionTimestamp, finalizers = [], annotations } = asked.object.metadata;
  const instance = annotations?.[instanceKey];
  if (instance && deletionTimestamp && finalizers.length === 0) await ec2.terminate(instance);
  return {};
}

async function launched({ object }: Admission, ec2: Ec2): Promise<Verdict> {
  const { annotations = {}, labels = {} } = object.metadata;
  const instance = await ec2.launch(labels[Karpenter.v1.poolLabel] ?? "");
  const value = { ...annotations, [instanceKey]: instance };
  return { patch: [{ op: "add", path: "/metadata/annotations", value }] };
}

function renamed({ object }: Admission, part: "spec" | "status"): Verdict {
  const instance = object.metadata.annotations?.[instanceKey];
  if (!instance || !object[part]?.providerID?.startsWith("kwok://")) return {};
  const value = `aws:///us-east-1a/${instance}`;
  return { patch: [{ op: "replace", path: `/${part}/providerID`, value }] };
}

/**
 * Karpenter's garbage collection asks its provider which instances there are. The kwok provider tells none with a
 * provider id like ours, so it would take a node that has just joined for lost; those that are ready it leaves alone.
 */
function mayGo({ object }: Admission): Verdict {
  const isReady = object.status?.conditions?.some(
    ({ type, status }) => type === "Initialized" && status === "True",
  );
  return isReady ? {} : { refused: "its instance is still starting" };
}
