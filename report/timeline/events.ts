import { counted } from "./clock.ts";

/** An event of a node, a pod or a hold in a timeline, with the observer's time. */
export type TimelineEvent = Readonly<{ at: Date }> &
  (
    | Readonly<{ kind: "launch"; instance: string }>
    | Readonly<{ kind: "node joined" | "node gone"; node: string; nodePool: string }>
    | Readonly<{ kind: "node marked"; node: string; holdId: string; before?: string }>
    | Readonly<{ kind: "node released"; node: string; holdId: string }>
    | Readonly<{ kind: "node user-held" | "node handed over" | "node let go"; node: string }>
    | Readonly<{ kind: "node excluded" | "node included"; node: string }>
    | Readonly<{ kind: "hold started"; scope: string; holdId: string; until: Date; because: string }>
    | Readonly<{ kind: "hold extended"; scope: string; holdId: string; until: Date }>
    | Readonly<{ kind: "hold caused"; scope: string; holdId: string; because: string }>
    | Readonly<{ kind: "hold releasing" | "hold ended"; scope: string; holdId: string; because: string }>
    | Readonly<{ kind: "pod evicted"; node: string; pod: string }>
    | Readonly<{ kind: "image pulled"; node: string; image: string }>
    | Readonly<{ kind: "look"; where: string; verdicts: readonly NodeVerdict[]; paid: Paid }>
    | Readonly<{ kind: "sweep" }>
    | Readonly<{ kind: "note"; text: string }>
  );

/** What was decided of a node that no longer pays. */
export type NodeVerdict = Readonly<{ name: string; isLetGo: boolean; dueAt?: Date; because: string }>;

/** With `hold=auto`, what a hold has cost in time of one node, and what it spared. */
export type Paid = Readonly<{ superfluous: number; letGo: number; spared: number; evictionsSpared: number }>;

/** The same in words; empty where nothing was superfluous. */
export function paidInWords(holds: readonly Paid[], lasting: (time: number) => string): readonly string[] {
  const sum = (name: keyof Paid) => holds.reduce((all, hold) => all + hold[name], 0);
  const [superfluous, letGo, spared] = [sum("superfluous"), sum("letGo"), sum("spared")];
  const evictions = counted(sum("evictionsSpared"), "eviction");
  if (superfluous + letGo + spared === 0) return [];
  return [
    `superfluous nodes were held for ${lasting(superfluous)} of node time`,
    `${counted(spared, "launch", "launches")} and up to ${evictions} spared, ${counted(letGo, "node")} let go`,
  ];
}

type EventKind = TimelineEvent["kind"];

/** The events that can be of these kinds. */
export type EventOf<Kind extends EventKind, T = TimelineEvent> = T extends { kind: infer K }
  ? [Kind & K] extends [never]
    ? never
    : T
  : never;

/** All events of a kind, in their order. */
export const eventsOf = <Kind extends EventKind>(
  events: readonly TimelineEvent[],
  kind: Kind,
): readonly EventOf<Kind>[] =>
  events.filter((event): event is EventOf<Kind> & TimelineEvent => event.kind === kind);

export type PointKind = "launch" | "mark" | "release" | "handover" | "eviction" | "note";

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
    case "note":
      return { at, kind: "note", text: event.text };
    default:
      return undefined;
  }
}
