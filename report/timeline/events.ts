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
    | Readonly<{ kind: "release armed" | "release fired" | "sweep" }>
    | Readonly<{ kind: "note"; text: string }>
  );

export type EventKind = TimelineEvent["kind"];

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
