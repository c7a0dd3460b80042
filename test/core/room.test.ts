import { describe, expect, it } from "vitest";
import { type LabelSelector, withLabels } from "../../lambda/core/label-selectors.ts";
import { type Needs, type Room, superfluousNodes } from "../../lambda/core/room.ts";
import { aBound, noNeeds, aRoom as room } from "./rooms.ts";

const withSsd = { labels: { disk: "ssd" } };
const inZone = (name: string) => ({ labels: { "topology.kubernetes.io/zone": name } });

/** Whether a node with one pod of these needs is superfluous beside this one, on which another one is. */
function movesTo(other: Room, needs: Partial<Needs>, room: Partial<Room> = {}): boolean {
  return isSuperfluous(other, { needs, pods: 1, others: 1 }, room);
}

type Pods = Readonly<{ needs: Partial<Needs>; pods: number; others: number }>;

function isSuperfluous(other: Room, { needs, pods, others }: Pods, change: Partial<Room> = {}): boolean {
  const pod = (node: string, cpu: number) =>
    aBound(node, { requests: { cpu }, needs: { ...noNeeds, ...needs } });
  const bound = [
    ...Array.from({ length: pods }, () => pod("leaves", 100)),
    ...Array.from({ length: others }, () => pod(other.name, 1_000)),
  ];
  const podsOf = Map.groupBy(bound, ({ node }) => node);
  return superfluousNodes([room("leaves", change), { ...other, stays: true }], podsOf).some(
    ({ name }) => name === "leaves",
  );
}

describe("a node is superfluous where its pods fit on another one", () => {
  const ssd = [withLabels({ disk: "ssd" })];
  const notSsd: LabelSelector = [{ key: "disk", operator: "NotIn", values: ["ssd"] }];

  it("by its labels: those of one of the pod's terms", () => {
    expect(movesTo(room("other", withSsd), { nodes: ssd })).toBe(true);
    expect(movesTo(room("other"), { nodes: ssd })).toBe(false);
    expect(movesTo(room("other"), { nodes: [...ssd, notSsd] })).toBe(true);
  });

  it("by its zone, if they must stay in theirs", () => {
    const ofZone = { within: ["topology.kubernetes.io/zone"] };
    expect(movesTo(room("other", inZone("a")), ofZone, inZone("a"))).toBe(true);
    expect(movesTo(room("other", inZone("b")), ofZone, inZone("a"))).toBe(false);
    const ofRackToo = { within: [...ofZone.within, "rack"] };
    const inRack = { labels: { ...inZone("a").labels, rack: "1" } };
    expect(movesTo(room("other", inZone("a")), ofRackToo, inRack)).toBe(false);
    expect(movesTo(room("other", inRack), ofRackToo, inRack)).toBe(true);
  });

  it("by how many of their group are there already", () => {
    const apart = (most: number) => ({ apart: { group: "web", most } });
    expect(movesTo(room("other"), apart(1))).toBe(false);
    expect(movesTo(room("other"), apart(2))).toBe(true);
    // The first one takes the last place.
    expect(isSuperfluous(room("other"), { needs: apart(2), pods: 2, others: 1 })).toBe(false);
    expect(isSuperfluous(room("other"), { needs: apart(3), pods: 2, others: 1 })).toBe(true);
  });

  it("not where its pod has a need that is not read", () => {
    expect(movesTo(room("other"), { isUnknown: true })).toBe(false);
  });
});

it("places in thought are given back where not all pods of a node fit", () => {
  const web = (node: string) =>
    aBound(node, { requests: { cpu: 100 }, needs: { ...noNeeds, apart: { group: "web", most: 2 } } });
  const pinned = aBound("first", { needs: { ...noNeeds, isUnknown: true } });
  // Of the first node one pod fits nowhere. So the second node takes no pod of it, and its own may use their places.
  const podsOf = new Map([
    ["first", [web("first"), aBound("first", { requests: { cpu: 50 } }), pinned]],
    ["second", [web("second"), web("second"), ...Array.from({ length: 2 }, () => aBound("second"))]],
    ["stays", Array.from({ length: 5 }, () => aBound("stays"))],
  ]);
  const full = room("first", { allocatable: { cpu: 150, memory: 0, pods: 58 } });
  const nodes = [full, room("second"), room("stays")];
  expect(superfluousNodes(nodes, podsOf).map(({ name }) => name)).toEqual(["second"]);
});
