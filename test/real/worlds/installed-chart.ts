import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { KubernetesAccess } from "../../../lambda/cluster-access/cluster-rights.ts";
import { holderName, holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { parseNodeLife } from "../../../lambda/kubernetes/node-objects.ts";
import { findCluster } from "../../../local/run/find-cluster.ts";
import { kubeconfigLogin } from "../../../local/run/kubeconfig-login.ts";
import { manifestYaml } from "../../../local/run/manifest-yaml.ts";
import { chartFolder } from "../../../scripts/chart.ts";
import { buildCommandLine } from "../../../scripts/package.ts";
import { CollectedLog } from "../../../simulator/collected-log.ts";
import { path } from "../../cluster-access/policy-requests.ts";
import { clientOf } from "../../contracts/cluster-nodes.ts";
import { newFolder } from "../../support/new-folder.ts";
import { ControlPlane } from "../engines/control-plane.ts";
import { until } from "../engines/processes.ts";
import { annotation, everything, helm, minimal, namespace, releaser, type Values } from "./helm.ts";
import { HolderProcess } from "./holder-process.ts";
import { createNode, outcomeOf, soon, untilInForce } from "./tried-node.ts";

/** The files of the image, as the Dockerfile copies them from a built package; returns its program. */
async function unpackImage(): Promise<string> {
  const [image, built, root] = [newFolder(), newFolder(), join(import.meta.dirname, "../../..")];
  await buildCommandLine(join(built, "dist"));
  writeFileSync(join(built, "dist/THIRD-PARTY-LICENSES"), "");
  const copies = readFileSync(join(root, "Dockerfile"), "utf8").matchAll(/^COPY (?:--\S+ )?(.+) (\S+)$/gm);
  for (const [, files = "", to = ""] of copies)
    for (const file of files.split(" ")) {
      const from = [built, root].map((folder) => join(folder, file)).find(existsSync) ?? file;
      cpSync(from, join(image, to, to.endsWith("/") ? basename(file) : ""), { recursive: true });
    }
  return join(image, "bin", holderName);
}

/** What an installed chart does on a real API server. */
export function installedChart(): void {
  let plane: ControlPlane;
  let admin: KubernetesClient;
  let image: string;
  const onPlane = (words: readonly string[], values?: Values) =>
    helm([...words, "--kubeconfig", plane.kubeconfig("admin"), "--namespace", namespace], values);
  const get = async (...words: string[]) => JSON.parse(await plane.kubectl(["get", ...words, "-o", "json"]));
  const marked = async () => {
    const node = parseNodeLife(await admin.call({ method: "GET", path }, soon()));
    return [node.annotations?.[annotation], node.labels?.[holdLabel] !== undefined];
  };

  const tokenOf = async (account: string) =>
    (await plane.kubectl(["create", "token", account, "--namespace", namespace])).trim();
  /** Logs in by the files and the environment that a Pod of this account has. */
  const clientAs = async (account: string) => {
    const home = newFolder();
    writeFileSync(join(home, "token"), await tokenOf(account), { mode: 0o600 });
    cpSync(join(plane.folder, "certs/apiserver.crt"), join(home, "ca.crt"));
    const { hostname, port } = new URL(plane.server);
    const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    return clientOf(await kubeconfigLogin(findCluster({ env, home, serviceAccount: home })).access());
  };
  /** A kubeconfig with a token of this account, because a process reads a Pod's files in one place only. */
  const kubeconfigOf = async (account: string) => {
    const file = join(newFolder(), "kubeconfig");
    const config = JSON.parse(plane.config("admin").exportConfig());
    config.users[0].user = { token: await tokenOf(account) };
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    return file;
  };
  /** The command of a Pod as the kubelet would start it, with places of this machine. */
  const startPod = async ({ serviceAccountName, containers: [{ command, args }] }: Pod) => {
    expect([command, args[0]]).toEqual([[holderName], "run"]);
    const here: Record<string, string> = {
      "/data/holder": newFolder(),
      "$(POD_IP)": "127.0.0.1",
      "9100": "0",
    };
    const flags = args.slice(1).map((one) => here[one] ?? one);
    return new HolderProcess([...flags, "--kubeconfig", await kubeconfigOf(serviceAccountName)], {}, image);
  };
  type Pod = Readonly<{
    serviceAccountName: string;
    containers: readonly [Readonly<{ command: readonly string[]; args: readonly string[] }>];
  }>;
  const install = (values: Values) => onPlane(["install", holderName, chartFolder], values);
  const isAccepted = (spec: object) =>
    admin.call(
      {
        method: "POST",
        path: `/api/v1/namespaces/${namespace}/pods`,
        query: { dryRun: "All" },
        body: { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec },
      },
      soon(),
    );
  /** Objects of the release, and what Helm knows of it. */
  const left = async () => {
    const kinds =
      "serviceaccounts,persistentvolumeclaims,configmaps,networkpolicies,deployments,jobs,secrets,clusterroles,clusterrolebindings,roles,rolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings";
    const { items } = await get(kinds, "-A", "-l", "app.kubernetes.io/managed-by=Helm");
    const secrets = await get("secrets", "-n", namespace);
    return [...items, ...secrets.items]
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  };
  /** Ends the Job of an uninstall, as the controller of Jobs would. */
  const endJob = (type: "Complete" | "Failed") => {
    const at = new Date().toISOString();
    const condition = (name: string) => ({
      ...{ type: name, status: "True", lastTransitionTime: at },
      ...(type === "Failed" && { reason: "BackoffLimitExceeded" }),
    });
    const status = {
      conditions: [type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget", type].map(condition),
      startTime: at,
      ...(type === "Complete" && { completionTime: at, succeeded: 1 }),
    };
    const change = ["--subresource=status", "--type=merge", "-p", JSON.stringify({ status })];
    return plane.kubectl(["patch", "job", releaser, "--namespace", namespace, ...change]);
  };
  const jobOf = async (uninstalled: Promise<unknown>) => {
    const job = async () => (await get("jobs", "-n", namespace)).items.length > 0;
    await Promise.race([until("the Job of the uninstall", job), uninstalled]);
    return (await get("job", releaser, "-n", namespace)).spec.template.spec as Pod;
  };

  beforeAll(async () => {
    [plane, image] = await Promise.all([ControlPlane.start(), unpackImage()]);
    admin = clientOf(await kubeconfigLogin(plane.config("admin")).access());
    await plane.kubectl(["create", "namespace", namespace]);
    await plane.kubectl(["label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted"]);
    expect(await install(minimal)).toContain("karpenter-node-holder status --run /data/holder");
  });
  afterAll(async () => plane?.stop());

  it("has a Pod that the restricted standard accepts, of one replica that is never doubled", async () => {
    const { spec } = await get("deployment", holderName, "-n", namespace);
    expect(spec).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } });
    expect(spec.template.metadata.annotations).toBeUndefined();
    const pod = spec.template.spec;
    await isAccepted(pod);
    await expect(isAccepted({ ...pod, securityContext: {} })).rejects.toThrow(/PodSecurity "restricted/);
    const probes = ["startupProbe", "livenessProbe", "readinessProbe"].map(
      (probe) => pod.containers[0][probe].httpGet.path,
    );
    expect(probes).toEqual(["/healthz", "/healthz", "/readyz"]);
    expect(pod.containers[0].securityContext).toMatchObject({ readOnlyRootFilesystem: true });
  });

  it("lets its account change nothing but marks", async () => {
    const holder = await clientAs(holderName);
    await untilInForce(admin, holder);
    // `hold=auto`, the default, lists pods.
    expect(await outcomeOf(holder, { method: "GET", path: "/api/v1/pods" })).toBe("admitted");
    for (const denied of ["/api/v1/configmaps", "/api/v1/secrets"])
      expect(await outcomeOf(holder, { method: "GET", path: denied })).toBe("refused by RBAC");
  });

  it("is known to a deployment on AWS as another holder", async () => {
    const access = new KubernetesAccess({
      api: admin,
      clock: { now: () => new Date() },
      log: new CollectedLog(),
    });
    const other = `a Pod: ServiceAccount ${holderName} in namespace ${namespace}`;
    expect(await access.otherHolder()).toBe(other);
  });

  it("has one Pod at work at a time: another one waits, is ready, and takes over", async (test) => {
    const pod: Pod = (await get("deployment", holderName, "-n", namespace)).spec.template.spec;
    const first = await startPod(pod);
    test.onTestFinished(async () => void (await first.kill()));
    await first.until("the holder is at work");
    const second = await startPod(pod);
    test.onTestFinished(async () => void (await second.kill()));
    await second.until("another run works on this cluster: this one waits until it ends");
    const { url } = await second.until("metrics are served");
    expect((await fetch(String(url).replace("metrics", "readyz"))).ok).toBe(true);
    await first.stop();
    await second.until("the holder is at work");
    await second.stop();
  });

  it("holds while it runs, releases what is held after an uninstall, and leaves nothing", async (test) => {
    const labels = { [Karpenter.v1.poolLabel]: "default", [Karpenter.v1.registeredLabel]: "true" };
    await createNode(admin, { labels });
    const pod: Pod = (await get("deployment", holderName, "-n", namespace)).spec.template.spec;
    const holder = await startPod(pod);
    test.onTestFinished(async () => void (await holder.kill()));
    await until("the node to be held", async () => String(await marked()) === "true,true");
    const { url } = await holder.until("metrics are served");
    const readiness = String(url).replace("metrics", "readyz");
    await until("it to be ready", async () => (await fetch(readiness)).ok);
    const before = await clientAs(holderName);
    await holder.stop();

    const uninstalled = onPlane(["uninstall", holderName]);
    const releasing = await jobOf(uninstalled);
    await isAccepted(releasing);
    await until("the holder's account to be gone", async () =>
      before.call({ method: "GET", path }, soon()).then(
        () => false,
        () => true,
      ),
    );
    expect(await marked()).toEqual(["true", true]);
    const release = await startPod(releasing);
    expect(await release.ended(), release.errors).toEqual({ code: 0, signal: null });
    expect(await marked()).toEqual([undefined, false]);
    await endJob("Complete");
    await uninstalled;
    expect(await left()).toEqual([]);
  });

  it("is uninstalled also when that Job fails, which Helm reports", async () => {
    await install(minimal);
    const more = { ...everything, serviceMonitor: {}, prometheusRule: {}, storage: {} };
    await onPlane(["upgrade", holderName, chartFolder], more);
    expect(await left()).toContain(`NetworkPolicy ${holderName}`);
    const uninstalled = onPlane(["uninstall", holderName]);
    await jobOf(uninstalled);
    await endJob("Failed");
    await expect(uninstalled).rejects.toThrow("BackoffLimitExceeded");
    expect(await left()).toEqual([]);
  });

  it("is not installed beside a deployed holder", async () => {
    const rights = join(newFolder(), "rights.yaml");
    writeFileSync(rights, manifestYaml(annotation));
    await plane.kubectl(["apply", "-f", rights]);
    await expect(install(minimal)).rejects.toThrow("invalid ownership metadata");
    expect(await left()).toEqual([]);
  });
}
