import * as v from "valibot";
import { isIneffective, Karpenter } from "../../lambda/core/marks/keys.ts";
import type { CallContext } from "../../lambda/core/ports.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { isStatus } from "../../lambda/kubernetes/error.ts";
import { pagesOf } from "../../lambda/kubernetes/node-lists.ts";
import type { IneffectiveTemplate } from "./finding.ts";

const { annotation } = Karpenter.v1;
/** Karpenter before v1.0 serves none of this version, and there any value protects. */
const path = "/apis/karpenter.sh/v1/nodepools";

const metadata = v.object({ annotations: v.optional(v.record(v.string(), v.string()), {}) });
const nodePool = v.object({
  metadata: v.object({ name: v.string() }),
  spec: v.object({ template: v.object({ metadata: v.optional(metadata, { annotations: {} }) }) }),
});

/** The NodePools that annotate their nodes with a value that protects nothing. */
export async function ineffectiveTemplates(
  api: KubernetesCaller,
  context: Pick<CallContext, "deadline">,
): Promise<readonly IneffectiveTemplate[]> {
  const ask = (from: string) =>
    api.call({ method: "GET", path, query: { limit: "250", ...(from && { continue: from }) } }, context);
  const found: IneffectiveTemplate[] = [];
  try {
    for await (const { items } of pagesOf(ask)) {
      for (const item of items) {
        const { success, output } = v.safeParse(nodePool, item);
        const value = success ? output.spec.template.metadata.annotations[annotation] : undefined;
        if (success && isIneffective(annotation, value))
          found.push({ nodePool: output.metadata.name, value });
      }
    }
    return found;
  } catch (error) {
    if (isStatus(error, 404)) return [];
    throw error;
  }
}
