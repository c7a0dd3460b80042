import { afterEach, beforeEach } from "vitest";
import { holdLabel, type KarpenterGeneration, neverHold } from "../../lambda/core/marks/keys.ts";
import type { CallContext, Changed, NodeChange, Nodes } from "../../lambda/core/ports.ts";
import { type NodePoolFilter, type Scope, wholeCluster } from "../../lambda/core/scope.ts";
import { within } from "../support/context.ts";

/** What a cluster's node looks like to a test. */
export type NodeState = Readonly<{ labels: Record<string, string>; annotations: Record<string, string> }>;

export type NodeAbout = Readonly<{
  /** null: not one of Karpenter's. */
  pool?: string | null;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  providerId?: string;
}>;

export type NodesOptions = Readonly<{
  karpenter?: KarpenterGeneration;
  annotation?: string;
  nodePools?: NodePoolFilter;
}>;

/** A cluster of its own for one test, and the port under test upon it. */
export interface NodesWorld {
  readonly nodes: Nodes;
  add(name: string, about?: NodeAbout): Promise<void>;
  remove(name: string): Promise<void>;
  /** As a user would unless another manager is named; undefined takes the key away. */
  edit(
    name: string,
    kind: "labels" | "annotations",
    key: string,
    value: string | undefined,
    manager?: string,
  ): Promise<void>;
  read(name: string): Promise<NodeState>;
  /** Every value the hold annotation ever had on this node. */
  history(name: string): Promise<readonly (string | undefined)[]>;
  /** Done once, right before the next patch of this node goes out. */
  beforeNextPatch(name: string, action: () => Promise<void>): void;
  close(): Promise<void>;
}

type Marking = Readonly<{ holdId: string; scope?: Scope; context?: CallContext }>;

/** Lists the nodes of a scope and marks all that do not have this mark yet. */
export async function markListed(
  nodes: Nodes,
  { holdId, scope = wholeCluster, context = soon() }: Marking,
): Promise<Changed> {
  const listed = await nodes.list(scope, context);
  const free = listed.filter(({ labels }) => labels?.[holdLabel] !== holdId);
  const changes = free.map((node): NodeChange => ({ do: "mark", node, holdId, scope }));
  return nodes.change(changes, context);
}

/** Lists all marks and removes those of a hold. */
export async function releaseListed(
  nodes: Nodes,
  { holdId, scope = wholeCluster, context = soon() }: Marking,
): Promise<Changed> {
  const listed = await nodes.listMarked(context);
  const own = listed.filter(({ labels }) => labels?.[holdLabel] === holdId);
  const changes = own.map((node): NodeChange => ({ do: "release", node, holdId, scope }));
  return nodes.change(changes, context);
}

/** Values of our label that are no hold's id: a user wrote them. */
export const usersLabels = [neverHold, "Never", "", "true", "skip", "team-2", "2024", "hold-1"];

export const soon = () => within(60_000);

/** Our label and annotation on a node. */
export const bare = { label: undefined, annotation: undefined };
export const heldIn = (id: string) => ({ label: id, annotation: "true" });

/** A cluster for each test, and what many of them do in it. */
export function nodesIn(open: () => Promise<NodesWorld>, annotation: string) {
  let world: NodesWorld;
  beforeEach(async () => {
    world = await open();
  });
  afterEach(() => world.close());
  const marked = (id: string) => ({ [holdLabel]: id });
  return {
    annotation,
    get world() {
      return world;
    },
    mark: (id: string) => markListed(world.nodes, { holdId: id }),
    release: (id: string) => releaseListed(world.nodes, { holdId: id }),
    marked,
    held: (id: string) => ({ labels: marked(id), annotations: { [annotation]: "true" } }),
    ours: async (name: string) => {
      const { labels, annotations } = await world.read(name);
      return { label: labels[holdLabel], annotation: annotations[annotation] };
    },
  };
}
