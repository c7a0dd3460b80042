import type { ReleasedAnswer } from "../answers.ts";
import { Failure } from "../terminal/failure.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Prints the result of a release. */
export function formatReleased({ because, released, kept, left }: ReleasedAnswer, { out }: Terminal): void {
  if (because === "nothing is held") {
    out("Nothing is held.");
    return;
  }
  const users = kept > 0 ? `; ${kept} stay, because their mark is not ours any more` : "";
  out(`Nodes released: ${released}${users} (${because}).`);
  if (left) out("Some nodes are left: the sweep continues with them.");
}

/** Nodes that could not be changed are still held. */
export function failWhereSomeStay({ failed }: ReleasedAnswer): void {
  if (failed === 0) return;
  throw new Failure(
    `${failed} nodes could not be changed`,
    "The sweep retries; if it keeps failing, run `doctor`, or read the log of `run`.",
  );
}
