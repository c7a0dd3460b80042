import { beforeAll, describe, expect, it } from "vitest";
import { flagOf } from "../../../cli/terminal/setting-flags.ts";
import { checkDeployment, runSettings } from "../../../infra/settings/deployment.ts";
import type { Window } from "../../../infra/settings/windows.ts";
import { holderName, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { writesNodeEvents } from "../../../lambda/core/rules.ts";
import { readSettings } from "../../../lambda/settings.ts";
import { rightsToRun } from "../../../local/run/manifest-yaml.ts";
import { readSchedule } from "../../../local/run/schedule.ts";
import { chartFolder } from "../../../scripts/chart.ts";
import { otherCosts, otherValues } from "../../support/other-values.ts";
import { buildHelm } from "../engines/build.ts";
import {
  annotation,
  everything,
  helm,
  holdDuring,
  isHook,
  type Kubernetes,
  minimal,
  namespace,
  podOf,
  releaser,
  settings,
  template,
  type Values,
} from "../worlds/helm.ts";
import { installedChart } from "../worlds/installed-chart.ts";

/** There is one Role for the Lease, and one for Events. */
const placeOf = ({ kind, metadata }: Kubernetes) => `${kind} ${metadata.namespace}`;
const nameOf = (one: Kubernetes) => `${placeOf(one)} ${one.metadata.name}`;
const kindsOf = (objects: readonly Kubernetes[]) => objects.map(({ kind }) => kind).toSorted();
/** These objects and what refers to them, by another name. */
const namedBy = (name: string, objects: readonly object[]): readonly Kubernetes[] =>
  JSON.parse(
    JSON.stringify(objects).replaceAll(/(?<="(name|policyName)":)"karpenter-node-holder"/g, `"${name}"`),
  );

/** Whether `run` can start with its schedule. */
function isUsable({ schedule, timeZone }: Window): boolean {
  try {
    return Boolean(readSchedule(schedule, timeZone));
  } catch {
    return false;
  }
}

beforeAll(buildHelm);

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
    const ofRights = rightsToRun(annotation).map((object) => Object(object).kind);
    const toRelease = ofRights.filter((kind) => !kind.startsWith("Role"));
    const ofRun = ["ServiceAccount", "Deployment"];
    expect(kindsOf(objects.filter((one) => !isHook(one)))).toEqual(
      [...ofRights, ...ofRun, ...more].toSorted(),
    );
    // Also where hooks are applied like the rest, as by `helm template | kubectl apply`.
    const names = objects.map(nameOf);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
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
        const rights = rightsToRun(key, { subject, ...(name === releaser ? {} : ofHolder) });
        for (const expected of namedBy(name, rights)) {
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
    { hold: "0008m", maxHold: "0019m" },
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
    { holdDuring: ["cron(0 8 ? * MON *) 2h", "cron(0 8 * * MON-FRI *) 2h"] },
    { holdDuring: ["cron(0 8 ? * ? *) 2h"] },
    { holdDuring: ["cron(0 8 ? * MON-FRI) 2h"] },
    { holdDuring: ["cron(0 8 ? * FRI-MON *) 2h"] },
    { holdDuring: ["cron(0 8 ? * mon-wed,sat-sun *) 2h"] },
    { holdDuring: ["cron(0 8 ? NOV-FEB MON *) 2h"] },
    { holdDuring: ["cron(0 22-6 * * ? *) 2h"] },
    { holdDuring: ["cron( 0 08-09 ? JAN-MAR 6#2  * ) Etc/GMT-3 2h", "cron(0/5 8 LW * ? 2030-2031) 2h"] },
    { holdDuring: ["cron(0 8 ? * sun-sat *) 2h", "at(2026-12-24T00:00:00) Europe/Berlin 3d"] },
    { holdDuring: ["rate(7 days) 30m", "rate(7 days) UTC 1h cluster"] },
    { holdDuring: ["rate(7 days) 30m", "rate(7 days) Asia/Tokyo 30m", "rate(8 days) 30m"] },
    { scope: "nodepool", holdDuring: ["rate(7 days) 30m nodepool/a", "rate(7 days) 30m nodepool/b"] },
    { scope: "nodepool", holdDuring: ["rate(7 days) 30m"] },
    { scope: "nodepool", holdDuring: ["rate(7 days) 30m nodepool/a"], nodePools: ["!a"] },
    { scope: "nodepool", holdDuring: ["rate(7 days) 30m nodepool/a"], nodePools: ["b"] },
  ])("is nothing exactly where run refuses the settings: %j", async (chosen) => {
    const { holdDuring = [], ...others } = chosen as { holdDuring?: string[] };
    const settings = { cluster: "prod", ...others, holdDuring: holdDuring.join(";") };
    const { problems, windows } = checkDeployment(settings);
    const isUnusable = windows.some((window) => !isUsable(window));
    const rendered = template({ settings: { cluster: "prod", ...chosen } });
    if (problems.length > 0 || isUnusable)
      await expect(rendered).rejects.toThrow(/execution error.*settings\./);
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

describe("on a real API server", installedChart);
