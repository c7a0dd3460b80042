import { markdownTable } from "../../../scripts/markdown-table.ts";

const introduction = `## Karpenter before 1.0: read in the source, not run

These versions were not run. The rows were read in the last release of each minor version, in the named files below \`pkg/controllers/\`
(repository \`kubernetes-sigs/karpenter\`, in those days \`aws/karpenter-core\`).`;

const blocking: readonly (readonly [string, string, string, string])[] = [
  [
    "v0.27 to v0.31",
    '`do-not-consolidate: "true"`',
    "consolidation, also of empty nodes; not drift, expiry or `ttlSecondsAfterEmpty`",
    "`deprovisioning/consolidation.go`",
  ],
  [
    "v0.30, v0.31",
    "`do-not-disrupt`, any value",
    "consolidation, emptiness, drift **and expiry**",
    "`deprovisioning/types.go`",
  ],
  [
    "v0.32 to v0.37",
    "`do-not-disrupt`, any value",
    "consolidation, emptiness, drift **and expiry**",
    "`disruption/types.go`",
  ],
  ["v0.32 to v0.37", '`do-not-consolidate: "true"`', "consolidation", "`disruption/consolidation.go`"],
];

const events: readonly (readonly [string, string, string, string])[] = [
  [
    "v0.27 to v0.31",
    "`DeprovisioningLaunching`, on the Node (v0.27) or the Machine",
    "demand",
    "`deprovisioning/events/events.go`, `deprovisioning/controller.go`",
  ],
  [
    "v0.32, of a Provisioner",
    "`DeprovisioningLaunching`, on the Machine",
    "demand",
    "`disruption/events/events.go`, `disruption/controller.go`",
  ],
  [
    "v0.32, of a NodePool",
    "`DisruptionLaunching`, on the NodeClaim",
    "replacement",
    "`disruption/events/events.go`, `disruption/controller.go`",
  ],
  [
    "v0.33 to v0.37",
    "`DisruptionLaunching`, on the NodeClaim",
    "replacement",
    "`disruption/events/events.go`, `disruption/orchestration/queue.go`",
  ],
];

const notes = `All keys begin with \`karpenter.sh/\`. Up to v0.31 (setting \`karpenter: v0.31\`) the holder sets \`do-not-consolidate\`. v0.32 also runs nodes of
Provisioners beside those of NodePools; with \`karpenter: v1\` these are not held. From v0.32 to v0.37 an expired node is
replaced like a drifted one, with the event. How soon after the instance these versions write it was not measured.`;

/** The part of the page about versions that were read. */
export const before1 = [
  introduction,
  markdownTable(["Version", "Annotation on the Node", "What it blocks", "Source"], blocking),
  markdownTable(["Version", "Event of a replacement", "Counts as", "Source"], events),
  notes,
].join("\n\n");
