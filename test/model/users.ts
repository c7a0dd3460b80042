import { holdLabel, neverHold } from "../../lambda/core/marks/keys.ts";
import type { World } from "../../simulator/world.ts";
import type { Command, UserAction } from "./commands.ts";

/** What a user's tool applies beside the annotation. */
export const appliedKey = "example.com/applied";

/** A user changes the annotation or the label of a node. */
export function actAsUser(
  { nodes, settings: { holdAnnotation } }: World,
  { node: which, action }: Extract<Command, { do: "user" }>,
): void {
  const all = nodes.all();
  const node = all[which % Math.max(1, all.length)];
  if (!node) return;
  const { name, labels } = node;
  const annotate = (value?: string) => nodes.edit(name, "annotations", holdAnnotation, value);
  const label = (value?: string) => nodes.edit(name, "labels", holdLabel, value);
  const apply = () => nodes.apply(name, { [holdAnnotation]: "true", [appliedKey]: "true" });
  const unannotate = () => {
    annotate();
    nodes.edit(name, "annotations", appliedKey, undefined);
  };
  const actions: Readonly<Record<UserAction, () => void>> = {
    "apply true": apply,
    "annotate true": () => annotate("true"),
    "annotate false": () => annotate("false"),
    unannotate,
    unlabel: () => label(),
    never: () => label(labels[holdLabel] === neverHold ? undefined : neverHold),
  };
  actions[action]();
}
