import { holdLabel, neverHold } from "../../lambda/core/marks/keys.ts";
import type { World } from "../../simulator/world.ts";
import { annotations, type Command, type UserAction } from "./commands.ts";
import type { Karpenter } from "./karpenter.ts";

/** A user changes or deletes a node. */
export function actAsUser(
  { nodes, settings: { holdAnnotation } }: World,
  karpenter: Karpenter,
  { node: which, action }: Extract<Command, { do: "user" }>,
): void {
  const all = nodes.all();
  const node = all[which % Math.max(1, all.length)];
  if (!node) return;
  const { name, instance, labels } = node;
  const annotate = (key: string | undefined, value?: string) => {
    if (key) nodes.edit(name, "annotations", key, value);
  };
  const label = (value?: string) => nodes.edit(name, "labels", holdLabel, value);
  const actions: Readonly<Record<UserAction, () => void>> = {
    "annotate true": () => annotate(holdAnnotation, "true"),
    "annotate false": () => annotate(holdAnnotation, "false"),
    "annotate otherwise": () =>
      annotate(
        annotations.find((key) => key !== holdAnnotation),
        "true",
      ),
    unannotate: () => annotate(holdAnnotation),
    unlabel: () => label(),
    never: () => label(labels[holdLabel] === neverHold ? undefined : neverHold),
    delete: () => {
      nodes.remove(name);
      karpenter.remove(name, instance);
    },
  };
  actions[action]();
}
