import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { ClusterFindings } from "../../../lambda/core/operate/check.ts";
import type { Doctor } from "../doctor.ts";
import { type Finding, ok, warn } from "../finding.ts";

const remedy =
  'Karpenter 1.0 and later accepts only "true" there (durations are for Pods), and the holder leaves such a node to ' +
  'its user: nothing protects it. Write "true", or remove the annotation.';

/** Annotations with a value that protects nothing, although their users expect it to. */
export async function checkAnnotations(
  { findIneffectiveTemplates }: Pick<Doctor, "findIneffectiveTemplates">,
  { ineffective }: Pick<ClusterFindings, "ineffective">,
): Promise<Finding[]> {
  const templates = (await findIneffectiveTemplates?.()) ?? [];
  const found = [
    ...templates.map(({ nodePool, value }) => `the template of NodePool ${nodePool} (${quoted(value)})`),
    ...ineffective.slice(0, 5).map(({ node, value }) => `node ${node} (${quoted(value)})`),
    ...(ineffective.length > 5 ? ["more nodes"] : []),
  ];
  if (found.length === 0) return [ok("annotations", "every one protects its node")];
  return [warn("annotations", `${Karpenter.v1.annotation} protects nothing on ${found.join(", ")}`, remedy)];
}

const quoted = (value: string): string => JSON.stringify(value);
