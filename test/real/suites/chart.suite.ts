import { execFile } from "node:child_process";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { flagOf } from "../../../cli/terminal/setting-flags.ts";
import { manifestYaml, rightsToRun } from "../../../local/run/manifest-yaml.ts";
import { holderName, holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { writesNodeEvents } from "../../../lambda/core/rules.ts";
import type { KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { kubeconfigLogin } from "../../../local/run/kubeconfig-login.ts";
import { parseNodeLife } from "../../../lambda/kubernetes/node-objects.ts";
import { checkDeployment, readSettings } from "../../../lambda/settings.ts";
import { runSettings } from "../../../lambda/settings-table.ts";
import { findCluster } from "../../../local/run/find-cluster.ts";
import { chartFolder } from "../../../scripts/chart.ts";
import { buildCommandLine } from "../../../scripts/package.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { admitted, refused } from "../../cluster-access/policy-cases.ts";
import { both, merge, path } from "../../cluster-access/policy-requests.ts";
import { clientOf } from "../../contracts/cluster-nodes.ts";
import { HolderProcess } from "../../support/holder-process.ts";
import { newFolder } from "../../support/new-folder.ts";
import { otherCosts, otherValues } from "../../support/other-values.ts";
import { buildHelm, program } from "../engines/build.ts";
import { ControlPlane } from "../engines/control-plane.ts";
import { until } from "../engines/processes.ts";
import { createNode, outcomeOf, patched, removeNode, soon } from "../worlds/tried-node.ts";

type Values = Readonly<Record<string, unknown>>;
type Kubernetes = Readonly<{ kind: string; metadata: Readonly<Record<string, unknown>>; spec?: unknown }>;

/** There is one Role for the Lease, and one for Events. */
const placeOf = ({ kind, metadata }: Kubernetes) => `${kind} ${metadata.namespace}`;

const { annotation } = Karpenter.v1;
const namespace = "holder";
const releaser = `${holderName}-release`;
const minimal = { settings: { cluster: "prod" } };
/** Every setting has another value than its default, and every option is on. */
const holdDuring = [
  "cron(0 8,12 ? * MON-FRI *) Europe/Berlin 2h nodepool/batch",
  "rate(7 days) 30m nodepool/web",
];
const settings = {
  ...otherValues(runSettings),
  nodePools: ["batch", "web", "!system"],
  holdDuring,
};
const everything = {
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
async function helm(words: readonly string[], values?: Values): Promise<string> {
  const home = newFolder();
  const file = join(home, "values.json");
  if (values) writeFileSync(file, JSON.stringify(values));
  const env = { ...process.env, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
  const args = [...words, ...(values ? ["--values", file] : [])];
  return (await promisify(execFile)(program("helm"), args, { env })).stdout;
}

const template = async (values: Values) =>
  loadAll(
    await helm(
      ["template", holderName, chartFolder, "--namespace", namespace, "--kube-version", "1.36.0"],
      values,
    ),
  ).filter(Boolean) as readonly Kubernetes[];
const isHook = ({ metadata }: Kubernetes) => "helm.sh/hook" in Object(metadata.annotations);
const kindsOf = (objects: readonly Kubernetes[]) => objects.map(({ kind }) => kind).toSorted();
const podOf = (objects: readonly Kubernetes[], kind: "Deployment" | "Job") =>
  Object(objects.find((one) => one.kind === kind)?.spec).template.spec;

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

beforeAll(buildHelm, 600_000);

describe("what Helm renders", () => {
  it.each([
    ["few", minimal, []],
    [
      "all",
      everything,
      ["ConfigMap", "NetworkPolicy", "PersistentVolumeClaim", "PrometheusRule", "Service", "ServiceMonitor"],
    ],
  ] as const)("has no fault with %s values, and has what they ask for", async (_, values, more) => {
    await helm(["lint", "--strict", chartFolder, "--kube-version", "1.36.0"], values);
    const objects = await template(values);
    const ofRights = rightsToRun([annotation]).map((object) => Object(object).kind);
    const toRelease = ofRights.filter((kind) => !kind.startsWith("Role"));
    const ofRun = ["ServiceAccount", "Deployment"];
    expect(kindsOf(objects.filter((one) => !isHook(one)))).toEqual(
      [...ofRights, ...ofRun, ...more].toSorted(),
    );
    expect(kindsOf(objects.filter(isHook))).toEqual([...toRelease, "Job", "ServiceAccount"].toSorted());
    expect(await template({ ...values, releaseOnUninstall: false })).toEqual(
      objects.filter((one) => !isHook(one)),
    );
  });

  it("gives every setting to run as its flag, and nothing that is not set", async () => {
    const written: Record<string, string> = {
      ...otherValues(runSettings),
      nodePools: settings.nodePools.join(","),
      holdDuring: holdDuring.join(";"),
    };
    const flags = Object.entries(written).flatMap(([name, value]) => [flagOf(name), value]);
    const argsOf = async (values: Values, kind: "Deployment" | "Job"): Promise<string[]> =>
      podOf(await template(values), kind).containers[0].args;
    const args = await argsOf(everything, "Deployment");
    expect(args.slice(-flags.length).toSorted()).toEqual(flags.toSorted());
    expect((await argsOf(minimal, "Deployment")).slice(-2)).toEqual(["--cluster", "prod"]);
    const costs = otherCosts(runSettings);
    const ofAuto = await argsOf({ settings: { cluster: "prod", ...costs } }, "Deployment");
    expect(ofAuto).toEqual(expect.arrayContaining(Object.keys(costs).map(flagOf)));
    const releasing = ["run", "--log", "json", "--release-only"];
    expect(await argsOf(minimal, "Job")).toEqual(releasing);
    const annotated = [...releasing, "--hold-annotation", written.holdAnnotation];
    expect(await argsOf(everything, "Job")).toEqual(annotated);
  });

  it.each([
    [{}, annotation, "hold"],
    [{ mode: "observe" }, annotation, "observe"],
    [{ hold: "auto" }, annotation, "hold"],
    [{ hold: "20m" }, annotation, "hold"],
    [{ nodeEvents: true }, annotation, "hold"],
    [{ nodeEvents: "true", mode: "observe" }, annotation, "observe"],
    [{ karpenter: "v0.31" }, Karpenter["v0.31"].annotation, "hold"],
    [{ karpenter: "v0.31", holdAnnotation: "example.com/stay" }, "example.com/stay", "hold"],
  ] as const)(
    "gives with %j the rights that manifest prints, to its accounts alone",
    async (chosen, key, mode) => {
      const objects = await template({ settings: { cluster: "prod", ...chosen } });
      for (const [name, isOfAccount] of [
        [holderName, (one: Kubernetes) => !isHook(one)],
        [releaser, isHook],
      ] as const) {
        const subject = { kind: "ServiceAccount", name, namespace } as const;
        // What is released after an uninstall may be marked from before a holder observed.
        const settings = readSettings({ cluster: "prod", ...chosen });
        const ofHolder = { mode, auto: settings.auto, nodeEvents: writesNodeEvents(settings) };
        const rights = rightsToRun([key], { subject, ...(name === releaser ? {} : ofHolder) });
        for (const expected of rights as readonly Kubernetes[]) {
          // Only a holder at work needs the Lease.
          if (name === releaser && expected.kind.startsWith("Role")) continue;
          const found = objects.filter((one) => placeOf(one) === placeOf(expected) && isOfAccount(one));
          expect(found).toMatchObject([expected]);
          const added = { metadata: expect.anything() };
          expect(found).toEqual([{ ...expected, ...added }]);
        }
      }
    },
  );

  it("has alerts, the claim's storage class, and the chart's labels beside those of its user", async () => {
    const objects = await template({
      ...everything,
      storage: { enabled: true, className: "-" },
      podLabels: { "app.kubernetes.io/name": "mine", a: "b" },
    });
    const specOf = (kind: string) => Object(objects.find((one) => one.kind === kind)?.spec);
    expect(specOf("PersistentVolumeClaim").storageClassName).toBe("");
    expect(specOf("PrometheusRule").groups[0].rules.length).toBeGreaterThan(5);
    const { labels } = specOf("Deployment").template.metadata;
    expect(labels).toMatchObject({ "app.kubernetes.io/name": holderName, a: "b" });
  });

  it.each([
    { hold: "30d" },
    { hold: "3h" },
    { hold: "3h", maxHold: "4h" },
    { hold: "20m", maxHold: "10m" },
    { hold: "30s" },
    { maxHold: "0s" },
    { hold: "20m", maxHold: "0s" },
    { hold: "auto", karpenter: "v0.31", maxHold: "0s" },
    { hold: "20m", relaunchCost: "10m" },
    { relaunchCost: "10m" },
    { sweepEvery: "10s" },
    { sweepEvery: "90s" },
    { initialDelay: "10m", hold: "5m" },
    { initialDelay: "16m" },
    { nodePools: ["a", "!a"] },
    { nodePools: ["a", "!b"] },
    { holdDuring: ["rate(7 days) 30m"] },
    { holdDuring: ["rate(7 days) 30m nodepool/a"] },
    { holdDuring: ["cron(0 8 ? * MON *) Europe/Berlin 9d"] },
    { scope: "nodepool", holdDuring: ["rate(7 days) 30m"] },
    { scope: "nodepool", holdDuring: ["rate(7 days) 30m nodepool/a"], nodePools: ["!a"] },
    { scope: "nodepool", holdDuring: ["rate(7 days) 30m nodepool/a"], nodePools: ["b"] },
  ])("is nothing exactly where run refuses the settings: %j", async (chosen) => {
    const { holdDuring: windows = [], ...others } = chosen as { holdDuring?: string[] };
    const { problems } = checkDeployment({ cluster: "prod", ...others, holdDuring: windows.join(";") });
    const rendered = template({ settings: { cluster: "prod", ...chosen } });
    if (problems.length > 0) await expect(rendered).rejects.toThrow(/execution error.*settings\./);
    else await expect(rendered).resolves.toBeDefined();
  });

  it.each([
    [{}, "/settings/cluster"],
    [{ settings: { cluster: "prod", hodl: "20m" } }, "additional properties 'hodl' not allowed"],
    [{ ...minimal, replica: 2 }, "additional properties 'replica' not allowed"],
    [{ ...minimal, replicas: 3 }, "/replicas"],
    [{ ...minimal, replicas: 2, storage: { enabled: true } }, "replicas must be 1 with storage.enabled"],
    [{ ...minimal, image: { name: "x" } }, "additional properties 'name' not allowed"],
    [{ settings: { cluster: "prod", hold: "soon" } }, "does not match pattern"],
    [{ settings: { cluster: "prod", holdDuring: ["every day"] } }, "does not match pattern"],
    [{ settings: { cluster: "prod", holdAnnotation: "a/b' || true" } }, "does not match pattern"],
  ])("is nothing with the values %j", async (values, problem) => {
    await expect(template(values)).rejects.toThrow(problem);
  });
});

describe("on a real API server", () => {
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
    const tried = async (before: Parameters<typeof createNode>[1], change: Parameters<typeof merge>[0]) => {
      await createNode(admin, before);
      const outcome = await outcomeOf(holder, patched(merge(change)));
      await removeNode(admin);
      return outcome;
    };
    await until("the rights and the policy to be in force", async () => {
      const outcomes = [await tried({}, both(holdId(1), "true")), await tried({}, { labels: { x: "y" } })];
      return outcomes.join() === "admitted,refused by the policy";
    });
    for (const [rule, before, change] of admitted)
      if (!change.manager) expect(await tried(before, change), rule).toBe("admitted");
    for (const [rule, before, change] of refused)
      if (!change.manager) expect(await tried(before, change), rule).toBe("refused by the policy");
    // `hold=auto`, the default, lists pods.
    expect(await outcomeOf(holder, { method: "GET", path: "/api/v1/pods" })).toBe("admitted");
    for (const denied of ["/api/v1/configmaps", "/api/v1/secrets"])
      expect(await outcomeOf(holder, { method: "GET", path: denied })).toBe("refused by RBAC");
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
    writeFileSync(rights, manifestYaml([annotation]));
    await plane.kubectl(["apply", "-f", rights]);
    await expect(install(minimal)).rejects.toThrow("invalid ownership metadata");
    expect(await left()).toEqual([]);
  });
});
