import { holdLabel, neverHold } from "../../lambda/core/marks/keys.ts";
import type { World } from "../../simulator/world.ts";
import type { Command, UserAction } from "./commands.ts";

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
  const actions: Readonly<Record<UserAction, () => void>> = {
    "annotate true": () => annotate("true"),
    "annotate false": () => annotate("false"),
    unannotate: () => annotate(),
    unlabel: () => label(),
    never: () => label(labels[holdLabel] === neverHold ? undefined : neverHold),
  };
  actions[action]();
}
