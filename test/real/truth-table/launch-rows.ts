import { oldestKarpenter } from "../engines/build.ts";
import type { CapacityType, NodePool } from "../engines/karpenter.ts";
import type { Workload, World } from "../worlds/world.ts";
import { shownBy, staticPools } from "./rows.ts";

/** Karpenter's reasons to disrupt nodes by its own decision; a budget may be for some of them. */
const reasons = ["Empty", "Drifted", "Underutilized"] as const;
type Reason = (typeof reasons)[number];

/** One way in which Karpenter comes to launch a node: its own NodePool and workload, and the cause. */
export type LaunchRow = Readonly<{
  name: string;
  what: string;
  /** What the holder must take the launch for. */
  kind: "demand" | "replacement";
  /** The reason that Karpenter must give for a replacement. */
  reason?: Reason;
  pool?: Partial<NodePool>;
  /** A static pool has none, and a CapacityBuffer. */
  work?: Workload;
  /** Whether pods use the new node: those that waited, or those of the replaced nodes. Not looked at where undefined. */
  used: boolean | undefined;
  /** How many nodes there are before the cause. */
  nodes: number;
  /** The capacity type of the new node. */
  capacity: CapacityType;
  /** The first version of Karpenter that has this. */
  since?: string;
  /** Launches the nodes before the cause, where no work does. */
  before?: (world: World) => Promise<void>;
  /** The attempt is 0, or higher where Karpenter gave its own decision up. */
  cause: (world: World, attempt: number) => Promise<void>;
}>;

/** Allows Karpenter no disruption; expiry and deletion are not bound by budgets. */
export const closed = [{ nodes: "0" }];

/** The row's NodePool before and after its turn. */
export const poolOf = ({ name, pool }: LaunchRow): NodePool => ({ ...pool, name, budgets: closed });

/** In its turn a NodePool may be disrupted for the row's reason, and for no other. */
const openPoolOf = (row: LaunchRow): NodePool => ({
  ...poolOf(row),
  budgets: [{ nodes: "0", reasons: reasons.filter((reason) => reason !== row.reason) }],
});

/**
 * The rows that may be played together. Karpenter plans one command for nodes of several NodePools, and for pods that wait
 * at that moment, so a replacement has a turn of its own, when no other NodePool may be disrupted and no pod waits.
 */
export const turnsOf = (rows: readonly LaunchRow[]): readonly (readonly LaunchRow[])[] => [
  rows.filter(({ kind }) => kind === "demand"),
  ...rows.filter(({ kind }) => kind === "replacement").map((row) => [row]),
];

const one: Workload = { replicas: 1, cpu: "1" };
/** The kwok provider launches a static pool's node only if the pool names its instance type. */
const fixed = (replicas: number) => ({ replicas, types: ["c-2x-amd64-linux"] }) as const;
const noCause = async () => {};

/** Karpenter keeps room for one pod of this size, and launches a node where there is none. */
const buffer = (name: string) => async (world: World) => {
  const metadata = { name, namespace: "default" };
  const resources = { requests: { cpu: one.cpu } };
  const containers = [{ name: "main", image: "registry.invalid/app", resources }];
  const spec = { containers, nodeSelector: { "karpenter.sh/nodepool": name } };
  await world.apply(
    { apiVersion: "v1", kind: "PodTemplate", metadata, template: { spec } },
    {
      apiVersion: "autoscaling.x-k8s.io/v1beta1",
      kind: "CapacityBuffer",
      metadata,
      spec: { podTemplateRef: { name }, replicas: 1 },
    },
  );
};
/** The gate's first version with a CRD of this API version. */
const buffers = "1.15.0";

const deleteClaims =
  (name: string) =>
  async ({ plane }: World): Promise<void> =>
    void (await plane.kubectl([
      "delete",
      "nodeclaims",
      "--wait=false",
      "--selector",
      `karpenter.sh/nodepool=${name}`,
    ]));

type Rest = Omit<Partial<LaunchRow>, "cause">;

function demand(name: string, what: string, rest: Partial<LaunchRow>): LaunchRow {
  const row = { name, what, kind: "demand", nodes: 1, capacity: "on-demand", used: true } as const;
  return { ...row, cause: noCause, ...rest };
}

function drifted(name: string, what: string, rest: Rest): LaunchRow {
  const row: LaunchRow = {
    name,
    what,
    kind: "replacement",
    reason: "Drifted",
    nodes: 1,
    capacity: "on-demand",
    used: true,
    ...rest,
    cause: (world, attempt) => world.pool({ ...openPoolOf(row), labels: { changed: `yes-${attempt}` } }),
  };
  return row;
}

/** The cause is that the NodePool may be consolidated, and may use other types or capacity. */
function consolidated(name: string, what: string, rest: Rest, then: Partial<NodePool>): LaunchRow {
  const row: LaunchRow = {
    name,
    what,
    kind: "replacement",
    reason: "Underutilized",
    nodes: 1,
    capacity: "on-demand",
    used: true,
    ...rest,
    cause: (world) => world.pool({ ...openPoolOf(row), ...then }),
  };
  return row;
}

const spot = { capacityTypes: ["spot"] } as const;

const small: Workload = { replicas: 6, cpu: "100m" };
const large = { types: ["c-4x-amd64-linux"] } as const;
const smaller = { types: ["c-2x-amd64-linux", "c-4x-amd64-linux"] } as const;

// Two of the first type cost more than one of the other, which has room for three of the pods.
const three: Workload = { replicas: 3, cpu: "1200m" };
const several = { types: ["m-2x-amd64-linux"] } as const;
const instead = { types: ["m-2x-amd64-linux", "c-4x-amd64-linux"] } as const;

const demands: readonly LaunchRow[] = [
  demand("waiting", "A pod waits for a node", {
    nodes: 0,
    cause: (world) => world.scale("waiting", { ...one, pool: "waiting" }),
  }),
  demand("waiting-spot", "A pod waits for a node, spot", {
    nodes: 0,
    pool: spot,
    capacity: "spot",
    cause: (world) => world.scale("waiting-spot", { ...one, pool: "waiting-spot" }),
  }),
  demand("expired", "The pods of a node that expired wait", { work: one, pool: { expireAfter: "60s" } }),
  demand("deleted", "The pods of a NodeClaim that was deleted wait", {
    work: one,
    cause: deleteClaims("deleted"),
  }),
  demand("static", "Static pool: `replicas` was raised, no pod waits", {
    since: staticPools,
    nodes: 0,
    used: false,
    pool: fixed(0),
    cause: (world) => world.pool({ name: "static", ...fixed(1), budgets: closed }),
  }),
  demand("static-deleted", "Static pool: a NodeClaim was deleted, no pod waits", {
    since: staticPools,
    used: false,
    pool: fixed(1),
    cause: deleteClaims("static-deleted"),
  }),
  demand("buffer", "A CapacityBuffer is filled, no pod waits", {
    since: buffers,
    nodes: 0,
    used: false,
    cause: buffer("buffer"),
  }),
  demand("refill", "A CapacityBuffer is filled again after a pod took its room, no pod waits", {
    since: buffers,
    used: false,
    pool: { types: ["c-2x-amd64-linux"] },
    before: buffer("refill"),
    cause: (world) => world.scale("refill", { ...one, pool: "refill" }),
  }),
];

const replacements: readonly LaunchRow[] = [
  drifted("drift", "Drift", { work: one }),
  drifted("drift-spot", "Drift, spot", { work: one, pool: spot, capacity: "spot" }),
  drifted("drift-static", "Drift in a static pool", { since: staticPools, used: false, pool: fixed(1) }),
  consolidated("single", "Single-node consolidation", { work: small, pool: large }, smaller),
  consolidated(
    "single-to-spot",
    "Single-node consolidation, from on-demand to spot",
    { work: small, pool: large, capacity: "spot" },
    { ...large, capacityTypes: ["on-demand", "spot"] },
  ),
  consolidated(
    "single-spot",
    "Single-node consolidation, spot to spot",
    { work: small, pool: { ...spot, types: ["c-64x-amd64-linux"] }, capacity: "spot" },
    { types: [] },
  ),
  consolidated(
    "multi",
    "Multi-node consolidation, three nodes into one",
    { work: three, pool: several, nodes: 3 },
    instead,
  ),
  consolidated(
    "multi-spot",
    "Multi-node consolidation, three nodes into one, spot to spot",
    { work: three, pool: { ...spot, ...several }, nodes: 3, capacity: "spot" },
    instead,
  ),
];

/**
 * The rows that this version of Karpenter can show, in the order of the page. On the nodes of the oldest version's kwok
 * provider pods start before Karpenter has stored which node it launched, so it does not note them.
 */
export const launchRows = (version: string): readonly LaunchRow[] => {
  const rows = shownBy(version, [...demands, ...replacements]);
  return version === oldestKarpenter ? rows.map((row) => ({ ...row, used: undefined })) : rows;
};
