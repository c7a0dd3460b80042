import { type Duration, formatDuration } from "../../lambda/core/duration.ts";
import { instanceOf } from "../../lambda/kubernetes/node-objects.ts";
import type { FakeCluster } from "../fake-kubernetes/fake-cluster.ts";
import type { Json } from "../fake-kubernetes/objects.ts";
import type { FakeNodeClaims } from "../fake-node-claims.ts";

const group = "/apis/karpenter.sh/v1";

type Karpenters = Readonly<{ nodeClaims: FakeNodeClaims; consolidateAfter: Duration; now: () => Date }>;

/** Serves what `advise` reads of Karpenter beside nodes and pods. This Karpenter has no pod, and so no log. */
export function serveKarpentersLists(
  cluster: FakeCluster,
  { nodeClaims, consolidateAfter, now }: Karpenters,
): void {
  const policy = "WhenEmptyOrUnderutilized";
  const disruption = {
    ...{ consolidationPolicy: policy, consolidateAfter: formatDuration(consolidateAfter) },
    budgets: [{ nodes: "100%" }],
  };
  const template = { spec: { expireAfter: "Never" } };
  cluster.serve(
    `${group}/nodepools`,
    listOf([{ metadata: { name: "default" }, spec: { disruption, template } }]),
  );
  const path = `${group}/nodeclaims`;
  cluster.serve(path, (query) => {
    return nodeClaims.answer({ method: "GET", path, query: Object.fromEntries(query) }) as Json;
  });
  cluster.serve("/apis/batch/v1/jobs", listOf([]));
  const events: Json[] = [];
  cluster.onChange(({ type, node }) => {
    if (type !== "DELETED") return;
    // It kills no job, and there is no other work.
    const message = "Disrupting NodeClaim: Empty";
    const name = instanceOf(node);
    const about = { kind: "NodeClaim", name };
    const lastTimestamp = now().toISOString();
    events.push({ involvedObject: about, reason: "DisruptionTerminating", message, lastTimestamp });
  });
  cluster.serve("/api/v1/events", () => listOf(events));
}

const listOf = (items: readonly Json[]): Json => ({ items: [...items], metadata: {} });
