import { dumpYaml } from "@kubernetes/client-node";
import { accessManifest } from "./access-manifest.ts";

/** The manifest as text for `kubectl apply`; the same input gives the same bytes. */
export const manifestYaml = (annotations: readonly string[]): string =>
  accessManifest(annotations)
    .map(({ object }) => dumpYaml(object, { lineWidth: -1, noRefs: true }))
    .join("---\n");
