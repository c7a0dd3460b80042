import type { TimelineEvent } from "../timeline/events.ts";

export type PointKind = "launch" | "mark" | "release" | "handover" | "eviction" | "image" | "note";

/** Something that happened at a moment, on a node's lane or to the cluster. */
export type Point = Readonly<{ at: number; kind: PointKind; node?: string; text: string }>;

/** The point of an event; undefined for an event that shows only as the start or end of a bar. */
export function pointOf(event: TimelineEvent): Point | undefined {
  const at = event.at.getTime();
  switch (event.kind) {
    case "launch":
      return { at, kind: "launch", text: `launch of ${event.instance}` };
    case "node marked":
      return event.before
        ? { at, kind: "handover", node: event.node, text: `${event.node} handed to hold ${event.holdId}` }
        : { at, kind: "mark", node: event.node, text: `${event.node} held` };
    case "node handed over":
      return { at, kind: "handover", node: event.node, text: `${event.node} left to its user's annotation` };
    case "node released":
      return { at, kind: "release", node: event.node, text: `${event.node} released` };
    case "pod evicted":
      return { at, kind: "eviction", node: event.node, text: `${event.pod} evicted from ${event.node}` };
    case "image pulled":
      return { at, kind: "image", node: event.node, text: `${event.image} pulled onto ${event.node}` };
    case "note":
      return { at, kind: "note", text: event.text };
    default:
      return undefined;
  }
}
