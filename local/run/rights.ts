import { after, formatDuration, seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError, messageOf, TryAgainError } from "../../lambda/core/errors.ts";
import { holderName, Karpenter } from "../../lambda/core/marks/keys.ts";
import type { CallContext, NodeClaims } from "../../lambda/core/ports.ts";
import { type NodeEventSettings, type Rules, writesNodeEvents } from "../../lambda/core/rules.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { isStatus } from "../../lambda/kubernetes/error.ts";
import { mayDo } from "../../lambda/kubernetes/inspection.ts";

const reading = ["get", "list", "watch"];
const changing = "patch";

/** The holder cannot start, and this is what to do. */
export class StartError extends BrokenSetupError {
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

/** Another process works with the record, and so releases what it holds. */
export class RecordInUseError extends StartError {}

/** A cluster that does not answer is a wrong address or network more often than a failure that passes. */
export const whyUnreachable = (error: unknown, server = ""): unknown =>
  error instanceof TryAgainError && !isStatus(error.cause, 403)
    ? new StartError(
        `the cluster at ${server} cannot be reached: ${messageOf(error.cause ?? error)}`,
        "Check the kubeconfig's server, and the network between.",
      )
    : error;

/** Asks once, in five seconds: a person who waits can try again. */
export async function refuseUnreachable(api: KubernetesCaller, server: string | undefined): Promise<void> {
  const version = { method: "GET", path: "/version", ignoresAnswer: true, isTriedOnce: true } as const;
  try {
    await api.call(version, { deadline: after(new Date(), seconds(5)) });
  } catch (error) {
    // A server that does not show whether it is ready may refuse everyone for now: then its refusal is the cause.
    if (isStatus(error, 403, 404) || isStatus(Object(error).cause, 403)) return;
    throw whyUnreachable(error, server);
  }
}

type Limits = Pick<CallContext, "deadline">;
type RulesOfRights = Pick<Rules, "mode" | "hold" | "auto" | "holdAnnotation"> & NodeEventSettings;
type Needed = Readonly<{ server: string; rules: RulesOfRights }>;

/** The command that writes our objects in the cluster, as these settings need them. */
export function applyManifest(rules: RulesOfRights, holder?: "run"): string {
  const { holdAnnotation, mode, auto, hold } = rules;
  const flags = [
    holder ? ` --holder ${holder}` : "",
    holdAnnotation === Karpenter.v1.annotation ? "" : ` --hold-annotation ${holdAnnotation}`,
    mode === "observe" ? " --mode observe" : "",
    auto ? "" : ` --hold ${formatDuration(hold)}`,
    writesNodeEvents(rules) ? " --node-events true" : "",
  ];
  return `npx karpenter-node-holder manifest${flags.join("")} | kubectl apply -f -`;
}

/** Checks that the cluster answers, and gives us every right that is needed; the error says how to get a missing one. */
export async function checkRights(
  api: KubernetesCaller,
  { server, rules, ...context }: Limits & Needed,
): Promise<void> {
  const verbs = rules.mode === "observe" ? reading : [...reading, changing];
  const asked = Promise.all(verbs.map((verb) => mayWe(api, verb, context)));
  const answers = await asked.catch((error: unknown) => {
    throw whyUnreachable(error, server);
  });
  const missing = verbs.filter((_, i) => !answers[i]);
  if (missing.length === 0) return;
  throw new StartError(
    `the cluster does not let this user ${missing.join(", ")} nodes`,
    `An admin can give these rights to the group ${holderName}: ${applyManifest(rules, "run")}; put the user into it, on EKS by an access entry.`,
  );
}

export const mayChangeNodes = (api: KubernetesCaller, context: Limits): Promise<boolean> =>
  mayWe(api, changing, context);

/** A server without reviews refuses the request itself later. */
const mayWe = (api: KubernetesCaller, verb: string, context: Limits): Promise<boolean> =>
  mayDo(api, { verb, resource: "nodes" }, context).catch((error: unknown) => {
    if (isStatus(error, 403, 404)) return true;
    throw error;
  });

/** The kubeconfig may name another cluster than the one that was meant. A failure is the first pass's to report. */
export async function warnWithoutKarpenter(
  nodeClaims: NodeClaims,
  karpenter: keyof typeof Karpenter,
  context: CallContext,
): Promise<void> {
  if (karpenter === "v0.31") return;
  const claims = await nodeClaims.list(wholeCluster, context).catch(() => []);
  if (!("unavailable" in claims) || claims.isMissingRight) return;
  context.log.warn("Karpenter was not found in this cluster", { because: claims.unavailable });
}
