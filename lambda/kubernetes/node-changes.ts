import { BrokenSetupError } from "../core/errors.ts";
import { holderName } from "../core/marks/keys.ts";
import type { Decision, NodeMeta } from "../core/marks/plan-marks.ts";
import type { CallContext } from "../core/ports.ts";
import { type KubernetesCaller, OutOfTimeError } from "./client.ts";
import { isRefusedByAdmission, isStatus } from "./error.ts";
import { type LabelSelector, matches } from "./label-selector.ts";
import { markPatch } from "./mark-patch.ts";
import { asRecord } from "./node-objects.ts";

/** `answer` is the node as the change left it, where it was asked for. */
export type Changed<Outcome extends string> = Readonly<{
  outcome: Outcome | "gone" | "failed" | "left";
  answer?: unknown;
}>;

export type NodeChange<Outcome extends string, Node extends NodeMeta> = Readonly<{
  /** Reads what the plan must know of a node. */
  parse: (node: unknown) => Node;
  plan: (node: Node) => Decision<Outcome>;
  /** A node that has changed since it was listed must still match this; undefined: any may be changed. */
  candidates?: LabelSelector | undefined;
  /** Whether the answer is the whole node; otherwise there is none. */
  wantsWhole: boolean;
  context: CallContext;
}>;

const mostPlans = 3;
const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const pathOf = (name: string) => `/api/v1/nodes/${encodeURIComponent(name)}`;

/** Plans and patches; the failure of one node is logged and does not end the work on the others. */
export async function changeNode<Outcome extends string, Node extends NodeMeta>(
  api: KubernetesCaller,
  node: Node,
  change: NodeChange<Outcome, Node>,
): Promise<Changed<Outcome>> {
  try {
    return await tryChange(api, node, change);
  } catch (error) {
    if (isStatus(error, 404)) return { outcome: "gone" };
    if (error instanceof OutOfTimeError) return { outcome: "left" };
    // A refused login is not the failure of one node: the others would be refused too.
    if (error instanceof BrokenSetupError && !isStatus(error, 403)) throw error;
    change.context.log.error("a node could not be changed", { node: node.name, error });
    return { outcome: "failed" };
  }
}

async function tryChange<Outcome extends string, Node extends NodeMeta>(
  api: KubernetesCaller,
  listed: Node,
  { parse, plan, candidates, wantsWhole, context }: NodeChange<Outcome, Node>,
): Promise<Changed<Outcome>> {
  let node = listed;
  for (let attempt = 1; ; attempt++) {
    const { change, outcome } = plan(node);
    if (!change) return { outcome };
    try {
      const call = {
        method: "PATCH",
        path: pathOf(node.name),
        query: { fieldManager: holderName },
        contentType: "application/json-patch+json",
        body: markPatch(node, change),
        ...(wantsWhole ? {} : { accept: metadataOnly, ignoresAnswer: true }),
      } as const;
      return { outcome, answer: await api.call(call, context) };
    } catch (error) {
      if (attempt >= mostPlans || !isStatus(error, 422) || isRefusedByAdmission(error)) throw error;
    }
    // A `test` failed: the node has changed since it was read, so the plan is made again on what is there now.
    const present = await readNode(api, node.name, context);
    if (present === "gone") return { outcome: "gone" };
    node = parse(present);
    // Another node may have got the name; this one may have left the scope.
    if (node.uid !== listed.uid || (candidates && !matches(candidates, node.labels))) {
      return { outcome: "gone" };
    }
  }
}

/** The whole node, or that it is gone. */
export async function readNode(
  api: KubernetesCaller,
  name: string,
  context: CallContext,
): Promise<Readonly<Record<string, unknown>> | "gone"> {
  try {
    return asRecord(await api.call({ method: "GET", path: pathOf(name) }, context), `node ${name}`);
  } catch (error) {
    if (isStatus(error, 404)) return "gone";
    throw error;
  }
}
