import type { Json, JsonObject, StoredObject } from "./objects.ts";

/** The form of an answer: whole objects, or their metadata alone. */
export type View = "whole" | "metadata";

/** The first form in an Accept header that we know; kubectl also takes an object where it asks for rows of a table. */
export function viewOf(accept: string): View {
  const first = accept
    .split(",")
    .find((part) => /as=PartialObjectMetadata|application\/json$|\*\/\*/.test(part));
  return first?.includes("as=PartialObjectMetadata") ? "metadata" : "whole";
}

const metaGroup = { apiVersion: "meta.k8s.io/v1" };

/** One object in the view asked for. */
export const viewOne = (object: StoredObject, view: View): Json =>
  view === "metadata" ? { kind: "PartialObjectMetadata", ...metaGroup, metadata: object.metadata } : object;

type Page = Readonly<{
  kind: StoredObject["kind"];
  objects: readonly StoredObject[];
  metadata: JsonObject;
}>;

/** A page of a list in the view asked for. */
export function viewList({ kind, objects, metadata }: Page, view: View): Json {
  const items = objects.map((one) => viewOne(one, view));
  if (view === "whole") return { kind: `${kind}List`, apiVersion: "v1", metadata, items };
  return { kind: "PartialObjectMetadataList", ...metaGroup, metadata, items };
}
