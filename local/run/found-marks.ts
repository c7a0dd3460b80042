import { otherAnnotations } from "../../lambda/core/marks/other-annotations.ts";
import type { SeenNode } from "../../lambda/core/ports.ts";
import { StartError } from "./rights.ts";

/** The command that releases everything that a run has left held. */
type Release = Readonly<{ release: string }>;

/** A mark can only be removed under the annotation that it has: with another one, its node would stay held for ever. */
export function refuseOtherAnnotation(
  marked: readonly SeenNode[],
  { annotation, release }: Release & Readonly<{ annotation: string }>,
): void {
  const [found] = otherAnnotations(marked, annotation);
  if (!found) return;
  const [former, count] = found;
  throw new StartError(
    `${count} nodes are marked by the annotation ${former}, and these settings name ${annotation}`,
    `Release them first: ${release} --hold-annotation ${former}`,
  );
}

/** Nodes that were marked before are released, which takes the right to change them. */
export async function refuseMarksToObserve(
  marked: readonly SeenNode[],
  { mayChange, release }: Release & Readonly<{ mayChange: () => Promise<boolean> }>,
): Promise<void> {
  if (marked.length === 0 || (await mayChange())) return;
  throw new StartError(
    `${marked.length} nodes are marked from before, and the cluster does not let this user patch nodes`,
    `Release them first, with the rights of mode=hold: ${release} --mode hold`,
  );
}
