import { createServer } from "node:https";
import { json } from "node:stream/consumers";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import { selfSigned } from "../../support/self-signed.ts";
import type { World } from "../worlds/world.ts";

/** Launches and terminates the instances of NodeClaims. */
export type Ec2 = Readonly<{
  launch(nodePool: string): Promise<string>;
  terminate(instance: string): Promise<void>;
}>;

/** A write that the API server asks about. */
type Admission = Readonly<{
  operation: "CREATE" | "UPDATE" | "DELETE";
  resource: string;
  subResource?: string;
  dryRun?: boolean;
  /** The new object; for a deletion the old one. */
  object: AdmittedObject;
}>;

type AdmittedObject = Readonly<{
  metadata: Readonly<{
    labels?: Readonly<Record<string, string>>;
    annotations?: Readonly<Record<string, string>>;
    finalizers?: readonly string[];
    deletionTimestamp?: string;
  }>;
  spec?: Readonly<{ providerID?: string }>;
  status?: Readonly<{ providerID?: string; conditions?: readonly Condition[] }>;
}>;

type Condition = Readonly<{ type: string; status: string }>;

/** Admitted unchanged, changed by a JSON Patch, or refused. */
type Verdict = Readonly<{ patch?: readonly object[]; refused?: string }>;

/** A label on a NodeClaim; Karpenter's kwok provider copies it to the Node. */
const instanceKey = "proving-ground/instance";

/**
 * Gives each NodeClaim an EC2 instance, as Karpenter's AWS provider does: launched when Karpenter writes the NodeClaim,
 * named in the provider id of the NodeClaim and of its Node, terminated when the NodeClaim is deleted. Karpenter is
 * unchanged: the API server calls an admission webhook for what Karpenter writes. Returns a function that ends this.
 */
export async function bridgeToEc2(world: World, ec2: Ec2): Promise<() => Promise<void>> {
  const tls = selfSigned();
  const https = createServer(tls, (request, response) => {
    const answer = async () => {
      const { uid, asked } = parseReview(await json(request));
      return reviewed(uid, await judge(asked, ec2, () => !request.socket.destroyed));
    };
    void answer().then(
      (review) => response.setHeader("content-type", "application/json").end(review),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => https.listen(0, "127.0.0.1", resolve));
  const address = https.address();
  if (typeof address !== "object" || address === null) throw new Error("the webhook got no port");
  const url = `https://127.0.0.1:${address.port}/`;
  await world.apply(webhookAt(url, Buffer.from(tls.cert).toString("base64")));
  return async () => {
    https.closeAllConnections();
    await new Promise((resolve) => https.close(resolve));
  };
}

const webhookAt = (url: string, caBundle: string) => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  metadata: { name: "ec2-bridge" },
  webhooks: [
    {
      name: "ec2-bridge.proving.ground",
      admissionReviewVersions: ["v1"],
      sideEffects: "NoneOnDryRun",
      timeoutSeconds: 30,
      clientConfig: { url, caBundle },
      rules: [
        {
          apiGroups: ["karpenter.sh"],
          apiVersions: ["*"],
          operations: ["CREATE", "UPDATE", "DELETE"],
          resources: ["nodeclaims", "nodeclaims/status"],
        },
        { apiGroups: [""], apiVersions: ["*"], operations: ["CREATE"], resources: ["nodes"] },
      ],
    },
  ],
});

async function judge(asked: Admission, ec2: Ec2, isAwaited: () => boolean): Promise<Verdict> {
  if (asked.dryRun) return {};
  if (asked.resource === "nodes") return renamed(asked, "spec");
  if (asked.subResource === "status") return renamed(asked, "status");
  if (asked.operation === "CREATE") return launched(asked, ec2, isAwaited);
  if (asked.operation === "DELETE") return mayGo(asked);
  const { deletionTimestamp, finalizers = [], annotations } = asked.object.metadata;
  const instance = annotations?.[instanceKey];
  if (instance && deletionTimestamp && finalizers.length === 0) await ec2.terminate(instance);
  return {};
}

async function launched({ object }: Admission, ec2: Ec2, isAwaited: () => boolean): Promise<Verdict> {
  const { annotations = {}, labels = {} } = object.metadata;
  const instance = await ec2.launch(labels[Karpenter.v1.poolLabel] ?? "");
  // On a busy machine the API server no longer waits for the answer: Karpenter creates another NodeClaim.
  if (!isAwaited()) await ec2.terminate(instance);
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

type Review = Readonly<{
  request: Omit<Admission, "resource"> &
    Readonly<{ uid: string; resource: Readonly<{ resource: string }>; oldObject: AdmittedObject }>;
}>;

function parseReview(review: unknown): Readonly<{ uid: string; asked: Admission }> {
  const { uid, resource, object, oldObject, ...rest } = (review as Review).request;
  return { uid, asked: { ...rest, resource: resource.resource, object: object ?? oldObject } };
}

function reviewed(uid: string, { patch, refused }: Verdict): string {
  const changes = patch && {
    patchType: "JSONPatch",
    patch: Buffer.from(JSON.stringify(patch)).toString("base64"),
  };
  const verdict = refused ? { allowed: false, status: { message: refused } } : { allowed: true, ...changes };
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid, ...verdict },
  });
}
