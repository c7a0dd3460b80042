import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { Plane } from "../engines/control-plane.ts";
import { type Admission, admitBy, type Verdict } from "../worlds/admission.ts";
import type { World } from "../worlds/world.ts";

/** Launches and terminates the instances of NodeClaims. */
export type Ec2 = Readonly<{
  launch(nodePool: string): Promise<string>;
  terminate(instance: string): Promise<void>;
}>;

/** A label on a NodeClaim; Karpenter's kwok provider copies it to the Node. */
const instanceKey = "proving-ground/instance";

/**
 * Gives each NodeClaim an EC2 instance, as Karpenter's AWS provider does: launched when Karpenter writes the NodeClaim,
 * named in the provider id of the NodeClaim and of its Node, terminated when the NodeClaim is deleted. Karpenter is
 * unchanged: the API server calls an admission webhook for what Karpenter writes. Returns a function that ends this.
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
 * Karpenter's garbage collection lists its provider's instances. The kwok provider lists none with a provider id like
 * ours, so it would delete a node that has just joined; it leaves nodes alone that are ready.
 */
function mayGo({ object }: Admission): Verdict {
  const isReady = object.status?.conditions?.some(
    ({ type, status }) => type === "Initialized" && status === "True",
  );
  return isReady ? {} : { refused: "its instance is still starting" };
}
