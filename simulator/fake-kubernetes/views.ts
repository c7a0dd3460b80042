import type { Json, JsonObject, StoredObject } from "./objects.ts";
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
export function viewNode(node: StoredObject, view: View, now: Date, columns = true): Json {
  if (view === "metadata") return { kind: "PartialObjectMetadata", ...metaGroup, metadata: node.metadata };
  if (view === "table")
    return table([node], { resourceVersion: node.metadata.resourceVersion }, now, columns);
  return node;
}

type Page = Readonly<{
  kind: StoredObject["kind"];
  objects: readonly StoredObject[];
  metadata: JsonObject;
}>;

/** A page of a list in the view asked for. */
export function viewList({ kind, objects, metadata }: Page, view: View, now: Date): Json {
  if (view === "table") return table(objects, metadata, now, true);
  if (view === "whole") return { kind: `${kind}List`, apiVersion: "v1", metadata, items: [...objects] };
  const items = objects.map((one) => viewNode(one, view, now));
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

function table(nodes: readonly StoredObject[], metadata: JsonObject, now: Date, columns: boolean): Json {
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

function cellsOf({ metadata, spec, status }: StoredObject, now: Date): Json[] {
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
