import { holderName, markValue } from "../../lambda/core/marks/keys.ts";
import type { SeenNode } from "../../lambda/core/ports.ts";
import { StartError } from "./rights.ts";

/** The command that releases everything that a run has left held. */
type Release = Readonly<{ release: string }>;

/** A mark can only be removed under the annotation that it has: with another one, its node would stay held for ever. */
export function refuseOtherAnnotation(
  marked: readonly SeenNode[],
  { annotation, release }: Release & Readonly<{ annotation: string }>,
): void {
  const others = new Map<string, number>();
  for (const key of marked.flatMap(ourAnnotations))
    if (key !== annotation) others.set(key, (others.get(key) ?? 0) + 1);
  const [found] = others;
  if (!found) return;
  const [former, count] = found;
  throw new StartError(
    `${count} nodes are marked by the annotation ${former}, and these settings name ${annotation}`,
    `Release them first: ${release} --hold-annotation ${former}`,
  );
}

/** The annotations of a node that the API server records as ours. */
const ourAnnotations = ({ annotations = {}, writers }: SeenNode): readonly string[] => [
  ...new Set(
    writers
      .filter(({ manager }) => manager === holderName)
      .flatMap((writer) => writer.annotations.filter((key) => annotations[key] === markValue)),
  ),
];

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
