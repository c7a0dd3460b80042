import { BrokenSetupError, messageOf, TryAgainError } from "../../lambda/core/errors.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import type { CallContext } from "../../lambda/core/ports.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { isStatus } from "../../lambda/kubernetes/error.ts";
import { asRecord } from "../../lambda/kubernetes/node-objects.ts";

const reading = ["get", "list", "watch"];
const changing = "patch";
const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/** The holder cannot start, and this is what to do. */
export class StartError extends BrokenSetupError {
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

type Limits = Pick<CallContext, "deadline">;
type Needed = Pick<Rules, "mode"> & Readonly<{ server: string }>;

/** Checks that the cluster answers, and gives us every right that is needed; the error says how to get a missing one. */
export async function checkRights(
  api: KubernetesCaller,
  { server, mode, ...context }: Limits & Needed,
): Promise<void> {
  const verbs = mode === "observe" ? reading : [...reading, changing];
  const asked = Promise.all(verbs.map((verb) => mayWe(api, verb, context)));
  const answers = await asked.catch((error: unknown) => {
    if (!(error instanceof TryAgainError)) throw error;
    throw new StartError(
      `the cluster at ${server} cannot be reached: ${messageOf(error.cause ?? error)}`,
      "Check the kubeconfig's server, and the network between.",
    );
  });
  const missing = verbs.filter((_, i) => !answers[i]);
  if (missing.length === 0) return;
  throw new StartError(
    `the cluster does not let this user ${missing.join(", ")} nodes`,
    `An admin can give these rights to the group ${holderName} with "karpenter-node-holder manifest --holder run | ` +
      'kubectl apply -f -"; put the user into it.',
  );
}

export const mayChangeNodes = (api: KubernetesCaller, context: Limits): Promise<boolean> =>
  mayWe(api, changing, context);

async function mayWe(api: KubernetesCaller, verb: string, context: Limits): Promise<boolean> {
  const spec = { resourceAttributes: { verb, resource: "nodes" } };
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec };
  try {
    const review = asRecord(await api.call({ method: "POST", path: reviews, body }, context), "the review");
    return asRecord(review.status, "the review's status").allowed === true;
  } catch (error) {
    // A server without reviews refuses the request itself later.
    if (isStatus(error, 403, 404)) return true;
    throw error;
  }
}
