import { KubeConfig } from "@kubernetes/client-node";
import { kubeconfigLogin, type LoginOptions } from "../../local/run/kubeconfig-login.ts";

/** A kubeconfig with one context. */
export const configOf = (cluster: object, user: object) => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "c", cluster: { server: "https://c.example.com", ...cluster } }],
  users: [{ name: "u", user }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  "current-context": "x",
});

export function loginOf(config: object, options?: LoginOptions) {
  const kubeconfig = new KubeConfig();
  kubeconfig.loadFromString(JSON.stringify(config));
  return kubeconfigLogin(kubeconfig, options);
}

export const base64 = (text = "") => Buffer.from(text).toString("base64");
