import type { NodePool } from "../engines/karpenter.ts";
import type { Workload, World } from "../worlds/world.ts";

/** When a row's nodes are expected to be disrupted: at once, or after the named protections have ended. */
export type Course = "although held" | "after the hold" | "after the hold and the other";

/** One row of the truth table: its own NodePool and workload, and what is done to them. */
export type Row = Readonly<{
  name: string;
  what: string;
  course: Course;
  pool?: Partial<NodePool>;
  /** None for a static pool, which has its nodes without pods. */
  work?: Workload | "none";
  nodes?: number;
  /** Runs before the hold starts. */
  before?: (world: World) => Promise<void>;
  /** The reason for Karpenter to disrupt the nodes; it runs during the hold, or at its end. */
  trigger?: (world: World, nodes: readonly string[]) => Promise<void>;
  triggerLate?: boolean;
  /** Removes the other obstacle after the hold. */
  lift?: (world: World) => Promise<void>;
  /** The other obstacle ends by itself, this long after the trigger. */
  quietMs?: number;
  /** The first version of Karpenter that has this. */
  since?: string;
  /** The command that Karpenter must log, so that no row passes for another reason. */
  command?: Readonly<{ reason: "empty" | "underutilized" | "drifted"; nodes?: number }>;
}>;

/** Static NodePools (`spec.replicas`), behind the feature gate `StaticCapacity`. */
const staticPools = "1.8.0";

/** Keeps the rows that this version of Karpenter can show. */
export const shownBy = <R extends Readonly<{ since?: string }>>(version: string, rows: readonly R[]): R[] =>
  rows.filter(({ since = "0" }) => version.localeCompare(since, "en", { numeric: true }) >= 0);

const doNotDisrupt = "karpenter.sh/do-not-disrupt";
const one: Workload = { replicas: 1, cpu: "1" };

/** The NodePool of a row; nodes with pods are not consolidated unless the row is about consolidation. */
export const poolOf = ({ name, pool }: Row): NodePool => ({
  consolidationPolicy: "WhenEmpty",
  ...pool,
  name,
});
export const workOf = ({ name, work = one }: Row): Workload | undefined =>
  work === "none" ? undefined : { ...work, pool: name };

const inPool = (name: string) => `karpenter.sh/nodepool=${name}`;

type Action = (world: World) => Promise<void>;

function emptied(name: string, what: string, rest: Partial<Row> = {}): Row {
  const trigger: Action = (world) => world.scale(name, { ...one, pool: name, replicas: 0 });
  return { name, what, course: "after the hold", command: { reason: "empty" }, trigger, ...rest };
}

function drifted(name: string, what: string, rest: Partial<Row> = {}): Row {
  const trigger: Action = (world) => world.pool({ ...poolOf(row), labels: { changed: "yes" } });
  const course = "after the hold";
  const row: Row = { name, what, course, command: { reason: "drifted" }, trigger, ...rest };
  return row;
}

function resized(row: Row, types: readonly string[]): Row {
  return { ...row, trigger: (world) => world.pool({ ...poolOf(row), types }) };
}

const consolidated = (type: string) =>
  ({ consolidationPolicy: "WhenEmptyOrUnderutilized", types: [type] }) as const;

const protectedPods: Workload = { ...one, annotations: { [doNotDisrupt]: "true" } };

/** Karpenter sees every pod that starts, but misses one that ends as fast as here; `consolidateAfter` would then count from an older event. */
async function busyOnceMore(name: string, world: World): Promise<void> {
  await world.scale(name, { replicas: 2, cpu: "100m", pool: name });
  await world.plane.kubectl(["rollout", "status", "deployment", name, "--timeout=60s"]);
  await world.scale(name, { replicas: 0, pool: name });
}

const quiet = (seconds: number) =>
  ({ pool: { consolidateAfter: `${seconds}s` }, quietMs: seconds * 1_000 }) as const;

/** Here a static pool needs its nodes' type, which Karpenter's kwok provider does not choose. */
const fixed = (replicas: number) => ({ replicas, types: ["c-2x-amd64-linux"] }) as const;
const ofStaticPool = { since: staticPools, work: "none", pool: fixed(1) } as const;

const blocked: readonly Row[] = [
  emptied("empty", "Emptiness: a node without pods is deleted"),
  // Six small pods on a node that is too large for them: a cheaper node is enough.
  resized(
    {
      name: "single",
      what: "Single-node consolidation: a node is replaced by a cheaper one",
      course: "after the hold",
      pool: consolidated("c-4x-amd64-linux"),
      work: { replicas: 6, cpu: "100m" },
      command: { reason: "underutilized", nodes: 1 },
    },
    ["c-2x-amd64-linux", "c-4x-amd64-linux"],
  ),
  // Each pod needs a node of this size; a node of double size fits three pods and costs less than three nodes.
  resized(
    {
      name: "multi",
      what: "Multi-node consolidation: three nodes are replaced by one",
      course: "after the hold",
      pool: consolidated("c-2x-amd64-linux"),
      work: { replicas: 3, cpu: "1200m" },
      nodes: 3,
      command: { reason: "underutilized", nodes: 3 },
    },
    ["c-2x-amd64-linux", "c-4x-amd64-linux"],
  ),
  drifted("drift", "Drift: the NodePool's template was changed"),
  drifted(
    "drift-forced",
    "Drift with `terminationGracePeriod`, of a node whose pods are marked do-not-disrupt",
    { work: protectedPods, pool: { terminationGracePeriod: "5s" } },
  ),
  drifted("static-drift", "Drift in a static NodePool (`spec.replicas`)", ofStaticPool),
];

const course = "although held";

const notBlocked: readonly Row[] = [
  {
    name: "expiry",
    what: "Expiry: the node reached its `expireAfter`, here 90 s",
    course,
    pool: { expireAfter: "90s" },
  },
  {
    name: "delete-node",
    what: "`kubectl delete node`: Karpenter's finalizer drains it",
    course,
    trigger: async ({ plane }, nodes) =>
      void (await plane.kubectl(["delete", "node", "--wait=false", ...nodes])),
  },
  {
    name: "delete-claim",
    what: "`kubectl delete nodeclaim`",
    course,
    trigger: async ({ plane }) =>
      void (await plane.kubectl([
        "delete",
        "nodeclaims",
        "--wait=false",
        "--selector",
        inPool("delete-claim"),
      ])),
  },
  {
    name: "delete-pool",
    what: "`kubectl delete nodepool`",
    course,
    trigger: async ({ plane }) =>
      void (await plane.kubectl(["delete", "nodepool", "--wait=false", "delete-pool"])),
  },
  {
    ...ofStaticPool,
    name: "static-shrunk",
    what: "A static NodePool's `replicas` was lowered",
    course,
    trigger: (world) => world.pool({ name: "static-shrunk", ...fixed(0) }),
  },
];

// The replacement is not ready until its startup taint is removed, so the command keeps running.
export const waitingTaint = "test/wait";
const waiting = { startupTaints: [{ key: waitingTaint, value: "yes", effect: "NoSchedule" }] };
const underWay: Row = {
  name: "under-way",
  what: "A command already under way when the hold began (the node had the taint `karpenter.sh/disrupted`)",
  course,
  before: (world) => world.pool({ name: "under-way", consolidationPolicy: "WhenEmpty", ...waiting }),
  trigger: async (world) =>
    void (await world.plane.kubectl([
      "taint",
      "nodes",
      "--selector",
      `${inPool("under-way")},!karpenter.sh/initialized`,
      `${waitingTaint}-`,
    ])),
  command: { reason: "drifted", nodes: 1 },
};

const together = { course: "after the hold and the other" } as const;

const combined: readonly Row[] = [
  drifted("pdb-last", "PodDisruptionBudget, outlasts the hold", {
    ...together,
    before: (world) =>
      world.apply({
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name: "pdb-last", namespace: "default" },
        spec: { maxUnavailable: 0, selector: { matchLabels: { app: "pdb-last" } } },
      }),
    lift: async ({ plane }) => void (await plane.kubectl(["delete", "pdb", "pdb-last"])),
  }),
  drifted("pod-last", "Pods marked `karpenter.sh/do-not-disrupt`, until after the hold", {
    ...together,
    work: protectedPods,
    lift: async ({ plane }) =>
      void (await plane.kubectl(["annotate", "pods", "--selector", "app=pod-last", `${doNotDisrupt}-`])),
  }),
  emptied("budget-last", 'NodePool budget `nodes: "0"`, until after the hold', {
    ...together,
    pool: { budgets: [{ nodes: "0" }] },
    lift: (world) => world.pool({ name: "budget-last", consolidationPolicy: "WhenEmpty" }),
  }),
  emptied("quiet-first", "`consolidateAfter`, over before the hold is: it runs during the hold", quiet(40)),
  emptied("quiet-last", "`consolidateAfter`, outlasts the hold", {
    ...together,
    ...quiet(60),
    work: { replicas: 1, cpu: "100m" },
    trigger: (world) => busyOnceMore("quiet-last", world),
    triggerLate: true,
  }),
];

/** The truth table on this version of Karpenter, in the order of its page. */
export const truthRows = (version: string): readonly Row[] =>
  shownBy(version, [...blocked, ...notBlocked, underWay, ...combined]);
