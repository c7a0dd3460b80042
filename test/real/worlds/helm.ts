import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { loadAll } from "js-yaml";
import { runSettings } from "../../../infra/settings/deployment.ts";
import { holderName, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { chartFolder } from "../../../scripts/chart.ts";
import { newFolder } from "../../support/new-folder.ts";
import { otherValues } from "../../support/other-values.ts";
import { program } from "../engines/build.ts";

export type Values = Readonly<Record<string, unknown>>;
export type Kubernetes = Readonly<{
  kind: string;
  metadata: Readonly<Record<string, unknown>>;
  spec?: unknown;
}>;

export const { annotation } = Karpenter.v1;
export const namespace = "holder";
export const releaser = `${holderName}-release`;
export const minimal = { settings: { cluster: "prod" } };
/** Every setting has another value than its default, and every option is on. */
export const holdDuring = [
  "cron(0 8,12 ? * MON-FRI *) Europe/Berlin 2h nodepool/batch",
  "rate(7 days) 30m nodepool/web",
];
export const settings = {
  ...otherValues(runSettings),
  nodePools: ["batch", "web", "!system"],
  holdDuring,
};
export const everything = {
  settings,
  imagePullSecrets: [{ name: "registry" }],
  serviceAccount: { annotations: { a: "b" } },
  podAnnotations: { a: "b" },
  podLabels: { a: "b" },
  nodeSelector: { a: "b" },
  tolerations: [{ operator: "Exists" }],
  affinity: { nodeAffinity: {} },
  priorityClassName: "system-cluster-critical",
  storage: { enabled: true, className: "gp3" },
  prometheusRule: { enabled: true, labels: { a: "b" } },
  networkPolicy: { enabled: true, from: [{ namespaceSelector: {} }] },
  serviceMonitor: { enabled: true, labels: { a: "b" } },
  grafanaDashboard: { enabled: true },
};

/** Helm with a home and values of its own; returns what it prints, or rejects. */
export async function helm(words: readonly string[], values?: Values): Promise<string> {
  const home = newFolder();
  const file = join(home, "values.json");
  if (values) writeFileSync(file, JSON.stringify(values));
  const env = { ...process.env, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
  const args = [...words, ...(values ? ["--values", file] : [])];
  return (await promisify(execFile)(program("helm"), args, { env })).stdout;
}

export const template = async (values: Values) =>
  loadAll(
    await helm(
      ["template", holderName, chartFolder, "--namespace", namespace, "--kube-version", "1.36.0"],
      values,
    ),
  ).filter(Boolean) as readonly Kubernetes[];
export const isHook = ({ metadata }: Kubernetes) => "helm.sh/hook" in Object(metadata.annotations);
export const podOf = (objects: readonly Kubernetes[], kind: "Deployment" | "Job") =>
  Object(objects.find((one) => one.kind === kind)?.spec).template.spec;
