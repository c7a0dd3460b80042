import type { Json, JsonObject, NodeObject } from "./objects.ts";
import { isObject, textsOf } from "./objects.ts";

/** The form of an answer: whole nodes, their metadata alone, or table rows. */
export type View = "whole" | "metadata" | "table";

/** The first form in an Accept header that we know. */
export function viewOf(accept: string): View {
  for (const part of accept.split(",")) {
    if (/as=Table/.test(part)) return "table";
    if (/as=PartialObjectMetadata/.test(part)) return "metadata";
    if (/application\/json|\*\/\*/.test(part)) return "whole";
  }
  return "whole";
}

const metaGroup = { apiVersion: "meta.k8s.io/v1" };

/** One node in the view asked for. */
export function viewNode(node: NodeObject, view: View, now: Date, columns = true): Json {
  if (view === "metadata") return { kind: "PartialObjectMetadata", ...metaGroup, metadata: node.metadata };
  if (view === "table")
    return table([node], { resourceVersion: node.metadata.resourceVersion }, now, columns);
  return node;
}

/** A list of nodes in the view asked for. */
export function viewNodes(nodes: readonly NodeObject[], metadata: JsonObject, view: View, now: Date): Json {
  if (view === "table") return table(nodes, metadata, now, true);
  if (view === "whole") return { kind: "NodeList", apiVersion: "v1", metadata, items: [...nodes] };
  const items = nodes.map((node) => viewNode(node, view, now));
  return { kind: "PartialObjectMetadataList", ...metaGroup, metadata, items };
}

const column = (name: string, priority = 0) => ({
  name,
  type: "string",
  format: "",
  description: "",
  priority,
});

const columnDefinitions: Json = [
  { ...column("Name"), format: "name" },
  column("Status"),
  column("Roles"),
  column("Age"),
  column("Version"),
  column("Internal-IP", 1),
  column("External-IP", 1),
  column("OS-Image", 1),
  column("Kernel-Version", 1),
  column("Container-Runtime", 1),
];

function table(nodes: readonly NodeObject[], metadata: JsonObject, now: Date, columns: boolean): Json {
  const rows = nodes.map((node) => ({
    cells: cellsOf(node, now),
    object: { kind: "PartialObjectMetadata", ...metaGroup, metadata: node.metadata },
  }));
  return {
    kind: "Table",
    ...metaGroup,
    metadata,
    columnDefinitions: columns ? columnDefinitions : null,
    rows,
  };
}

function cellsOf({ metadata, spec, status }: NodeObject, now: Date): Json[] {
  const conditions = Array.isArray(status.conditions) ? status.conditions : [];
  const ready = conditions.some((one) => isObject(one) && one.type === "Ready" && one.status === "True");
  const info = textsOf(status.nodeInfo);
  const role = "node-role.kubernetes.io/";
  const roles = Object.keys(textsOf(metadata.labels)).filter((key) => key.startsWith(role));
  return [
    metadata.name,
    `${ready ? "Ready" : "NotReady"}${spec.unschedulable === true ? ",SchedulingDisabled" : ""}`,
    roles.map((key) => key.slice(role.length)).join(",") || "<none>",
    ageOf(now.getTime() - Date.parse(metadata.creationTimestamp)),
    info.kubeletVersion ?? "<unknown>",
    "<none>",
    "<none>",
    info.osImage ?? "<unknown>",
    info.kernelVersion ?? "<unknown>",
    info.containerRuntimeVersion ?? "<unknown>",
  ];
}

function ageOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 600) return `${Math.floor(seconds / 60)}m${seconds % 60 ? `${seconds % 60}s` : ""}`;
  if (seconds < 3 * 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
