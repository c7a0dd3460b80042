import type { Json } from "./objects.ts";

/** The discovery documents that kubectl reads first. */
export const discovery: Readonly<Record<string, Json>> = {
  "/version": { major: "1", minor: "36", gitVersion: "v1.36.1", platform: "node/stand-in" },
  "/healthz": "ok",
  "/livez": "ok",
  "/readyz": "ok",
  "/api": { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] },
  "/apis": { kind: "APIGroupList", apiVersion: "v1", groups: [] },
  "/api/v1": {
    kind: "APIResourceList",
    groupVersion: "v1",
    resources: [
      {
        name: "nodes",
        singularName: "node",
        namespaced: false,
        kind: "Node",
        shortNames: ["no"],
        verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
      },
      {
        name: "nodes/status",
        singularName: "",
        namespaced: false,
        kind: "Node",
        verbs: ["get", "patch", "update"],
      },
    ],
  },
  "/openapi/v3": { paths: {} },
};
