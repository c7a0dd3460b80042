import { createServer } from "node:https";
import { json } from "node:stream/consumers";
import { selfSigned } from "../../support/self-signed.ts";
import type { Plane } from "../engines/control-plane.ts";
import type { World } from "./world.ts";

/** A write that the API server asks about. */
export type Admission = Readonly<{
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
export type Verdict = Readonly<{ patch?: readonly object[]; refused?: string }>;

type Rule = Readonly<{ apiGroup: string; operations: readonly string[]; resources: readonly string[] }>;

/** Registers a webhook for writes that match the rules; returns a function that removes it. */
export async function admitBy<P extends Plane>(
  world: World<P>,
  name: string,
  rules: readonly Rule[],
  judge: (asked: Admission) => Promise<Verdict>,
): Promise<() => Promise<void>> {
  const tls = selfSigned();
  const https = createServer(tls, (request, response) => {
    const answer = async () => {
      const { uid, asked } = parseReview(await json(request));
      return reviewed(uid, await judge(asked));
    };
    void answer().then(
      (review) => response.setHeader("content-type", "application/json").end(review),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => https.listen(0, "127.0.0.1", resolve));
  const address = https.address();
  if (typeof address !== "object" || address === null) throw new Error("the webhook got no port");
  await world.apply({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name },
    webhooks: [
      {
        name: `${name}.proving.ground`,
        admissionReviewVersions: ["v1"],
        sideEffects: "NoneOnDryRun",
        clientConfig: {
          url: `https://127.0.0.1:${address.port}/`,
          caBundle: Buffer.from(tls.cert).toString("base64"),
        },
        rules: rules.map(({ apiGroup, operations, resources }) => ({
          apiGroups: [apiGroup],
          apiVersions: ["*"],
          operations,
          resources,
        })),
      },
    ],
  });
  return async () => {
    https.closeAllConnections();
    await new Promise((resolve) => https.close(resolve));
  };
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
