import type { Marked, Nodes } from "../../lambda/core/ports.ts";
import type { Timeline } from "../../local/holder/timeline.ts";
import type { Crash } from "./script.ts";

/** Nodes that, when armed, crash the function right before it marks the first of them. */
export function crashingNodes(
  nodes: Nodes,
  timeline: () => Timeline,
): Readonly<{ nodes: Nodes; crash: Crash }> {
  let isArmed = false;
  const mark: Nodes["mark"] = async (what, context): Promise<Marked> => {
    if (!isArmed) return nodes.mark(what, context);
    isArmed = false;
    timeline().record({
      kind: "note",
      text: "the function crashes: recorded and armed, but not a node is marked",
    });
    throw new Error("the function crashed");
  };
  const passed: Omit<Nodes, "mark"> = {
    release: (...args) => nodes.release(...args),
    releaseAll: (...args) => nodes.releaseAll(...args),
    marks: (...args) => nodes.marks(...args),
    markedNodes: (...args) => nodes.markedNodes(...args),
    joinedSince: (...args) => nodes.joinedSince(...args),
    hasJoined: (...args) => nodes.hasJoined(...args),
    countUserHeld: (...args) => nodes.countUserHeld(...args),
  };
  return {
    nodes: { ...passed, mark },
    crash: {
      arm: () => {
        isArmed = true;
      },
    },
  };
}
