import { type EventOf, type Point, pointOf, type TimelineEvent } from "./events.ts";

/** Something that lasted; `isOpen` when it was still going on at the end. */
export type Span = Readonly<{ from: number; to: number; isOpen: boolean }>;

/** While a node was held by us, and by which hold in the end. */
export type HeldSpan = Span & Readonly<{ holdId: string }>;

/** One node's life, and when it was held by us or by its user, or kept out of holds by its user. */
export type Lane = Span &
  Readonly<{
    node: string;
    nodePool: string;
    held: readonly HeldSpan[];
    userHeld: readonly Span[];
    excluded: readonly Span[];
  }>;

/** One hold, from its start until its marks were off; releasing from `fencedAt` on. */
export type HoldBand = Span &
  Readonly<{
    scope: string;
    holdId: string;
    because: string;
    /** When it ends, unless it is extended. */
    until: number;
    ended?: string;
    fencedAt?: number;
    extensions: readonly number[];
  }>;

/** All that a picture shows; times in milliseconds. */
export type Timeline = Readonly<{
  from: number;
  to: number;
  lanes: readonly Lane[];
  holds: readonly HoldBand[];
  points: readonly Point[];
}>;

type HoldEvent = Extract<TimelineEvent, { scope: string }>;
type NodeEvent = Extract<TimelineEvent, { node: string }>;
type Draft<T> = { -readonly [Key in keyof T]: T[Key] };
type OpenLane = Draft<Omit<Lane, "held" | "userHeld" | "excluded">> & {
  held: Draft<HeldSpan>[];
  userHeld: Draft<Span>[];
  excluded: Draft<Span>[];
};
type OpenHold = Draft<HoldBand> & { extensions: number[] };

/** Turns events into lanes, bands and points; of the time before `from` it keeps only what still lasted then. */
export function readTimeline(
  events: readonly TimelineEvent[],
  bounds: Readonly<{ from?: Date; to?: Date }> = {},
): Timeline {
  const ordered = events.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const from = bounds.from?.getTime() ?? ordered[0]?.at.getTime() ?? 0;
  const to = Math.max(from + 1, bounds.to?.getTime() ?? ordered.at(-1)?.at.getTime() ?? 0);
  const reader = new Reader(to);
  for (const event of ordered) if (event.at.getTime() <= to) reader.read(event);
  const isSeen = (span: Span) => span.to >= from;
  return {
    from,
    to,
    lanes: reader.lanes.filter(isSeen),
    holds: reader.holds.filter(isSeen),
    points: reader.points.filter(({ at }) => at >= from),
  };
}

class Reader {
  readonly lanes: OpenLane[] = [];
  readonly holds: OpenHold[] = [];
  readonly points: Point[] = [];
  readonly #present = new Map<string, OpenLane>();
  readonly #running = new Map<string, OpenHold>();
  readonly #end: number;

  constructor(end: number) {
    this.#end = end;
  }

  read(event: TimelineEvent): void {
    const at = event.at.getTime();
    const point = pointOf(event);
    if (point) this.points.push(point);
    if ("scope" in event) this.#readHold(event, at);
    else if ("node" in event) this.#readNode(event, at);
  }

  #readNode(event: NodeEvent, at: number): void {
    const { kind, node } = event;
    if (kind === "node joined") this.#join(node, event.nodePool, at);
    if (kind === "node gone") this.#leave(node, at);
    if (kind === "node marked") this.#mark(event, at);
    if (kind === "node released" || kind === "node handed over") this.#unmark(node, at);
    if (kind === "node let go") end(this.#present.get(node)?.userHeld.at(-1), at);
    if (kind === "node excluded") this.#present.get(node)?.excluded.push(this.#open(at));
    if (kind === "node included") end(this.#present.get(node)?.excluded.at(-1), at);
    if (kind === "node user-held" || kind === "node handed over") this.#userHold(node, at);
  }

  #readHold(event: HoldEvent, at: number): void {
    const { kind, holdId } = event;
    const band = this.#running.get(holdId);
    if (kind === "hold started") this.#start(event, at);
    if (!band) return;
    if (kind === "hold extended") {
      const until = event.until.getTime();
      // A request may be made shorter, or be released before its end.
      if (until > band.until) band.extensions.push(at);
      band.until = until;
    }
    if (kind === "hold caused") band.because = event.because;
    if (kind === "hold releasing") {
      band.fencedAt = at;
      band.ended = event.because;
    }
    if (kind === "hold ended") {
      this.#running.delete(holdId);
      band.ended = event.because;
      end(band, at);
    }
  }

  #open(from: number): Draft<Span> {
    return { from, to: this.#end, isOpen: true };
  }

  #join(node: string, nodePool: string, at: number): void {
    if (this.#present.has(node)) return;
    const lane: OpenLane = { ...this.#open(at), node, nodePool, held: [], userHeld: [], excluded: [] };
    this.#present.set(node, lane);
    this.lanes.push(lane);
  }

  #leave(node: string, at: number): void {
    const lane = this.#present.get(node);
    if (!lane) return;
    this.#present.delete(node);
    for (const span of [lane, ...lane.held, ...lane.userHeld, ...lane.excluded]) end(span, at);
  }

  #mark({ node, holdId }: Readonly<{ node: string; holdId: string }>, at: number): void {
    const held = this.#present.get(node)?.held;
    const last = held?.at(-1);
    // A node that a newer hold adopts was never free in between.
    if (last?.isOpen) last.holdId = holdId;
    else held?.push({ ...this.#open(at), holdId });
  }

  #unmark(node: string, at: number): void {
    end(this.#present.get(node)?.held.at(-1), at);
  }

  #userHold(node: string, at: number): void {
    this.#present.get(node)?.userHeld.push(this.#open(at));
  }

  #start({ scope, holdId, because, until }: EventOf<"hold started">, at: number): void {
    const band: OpenHold = {
      ...this.#open(at),
      scope,
      holdId,
      because,
      until: until.getTime(),
      extensions: [],
    };
    this.#running.set(holdId, band);
    this.holds.push(band);
  }
}

function end(span: Draft<Span> | undefined, at: number): void {
  if (!span?.isOpen) return;
  span.to = at;
  span.isOpen = false;
}
