import type { DeedAnswer } from "./answers.ts";
import type { Terminal } from "./terminal.ts";

/** Says what a release came to. */
export function tellReleased({ because, counts, left }: DeedAnswer, { out }: Terminal): void {
  const { released = 0, kept = 0 } = counts;
  if (because === "nothing is held") {
    out("Nothing is held.");
    return;
  }
  const users = kept > 0 ? `; ${kept} stay, because their mark is not ours any more` : "";
  out(`Nodes released: ${released}${users} (${because}).`);
  if (left) out("Some nodes are left: the sweep goes on with them.");
}
