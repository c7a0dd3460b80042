import { mkdir, writeFile } from "node:fs/promises";
import type { RequestOptions } from "node:https";
import { delimiter, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type ClusterChoice, findCluster } from "../../local/run/find-cluster.ts";
import { newFolder } from "../support/new-folder.ts";
import { configOf } from "./kubeconfigs.ts";

let home: string;
let serviceAccount: string;
beforeEach(async () => {
  home = newFolder();
  serviceAccount = join(home, "service-account");
});

async function writeKubeconfig(file: string, server: string): Promise<string> {
  await mkdir(join(home, ".kube"), { recursive: true });
  await writeFile(join(home, file), JSON.stringify(configOf({ server }, {})));
  return join(home, file);
}
const inPod = { KUBERNETES_SERVICE_HOST: "10.100.0.1", KUBERNETES_SERVICE_PORT: "443" };
async function mountServiceAccount(token: string): Promise<void> {
  await mkdir(serviceAccount, { recursive: true });
  await writeFile(join(serviceAccount, "token"), token);
  await writeFile(join(serviceAccount, "ca.crt"), "the cluster's CA");
}
const found = (choice: Partial<ClusterChoice> = {}) =>
  findCluster({ env: {}, home, serviceAccount, ...choice });
const serverOf = (choice?: Partial<ClusterChoice>) => found(choice).getCurrentCluster()?.server;

it("takes the kubeconfig named before $KUBECONFIG, that before ~/.kube/config, and that before a service account", async () => {
  await mountServiceAccount("token");
  expect(serverOf({ env: inPod })).toBe("https://10.100.0.1:443");
  await writeKubeconfig(".kube/config", "https://home.example");
  expect(serverOf({ env: inPod })).toBe("https://home.example");
  const KUBECONFIG = await writeKubeconfig("other", "https://other.example");
  expect(serverOf({ env: { ...inPod, KUBECONFIG } })).toBe("https://other.example");
  const path = await writeKubeconfig("named", "https://named.example");
  expect(serverOf({ path, env: { ...inPod, KUBECONFIG } })).toBe("https://named.example");
});

it("logs in as the Pod's service account, verifies the cluster by its CA, and reads a renewed token", async () => {
  await mountServiceAccount("first");
  const login = async () => {
    const options: RequestOptions = {};
    await found({ env: inPod }).applyToHTTPSOptions(options);
    return options;
  };
  expect(await login()).toMatchObject({ headers: { Authorization: "Bearer first" } });
  expect(String((await login()).ca)).toBe("the cluster's CA");
  expect((await login()).rejectUnauthorized).not.toBe(false);
  expect(found({ env: inPod }).getCurrentContext()).toBe("in-cluster");
  await mountServiceAccount("second");
  expect(await login()).toMatchObject({ headers: { Authorization: "Bearer second" } });
});

it("writes an IPv6 address of the cluster in brackets", async () => {
  await mountServiceAccount("token");
  expect(serverOf({ env: { KUBERNETES_SERVICE_HOST: "fd00::1" } })).toBe("https://[fd00::1]:443");
});

it("reports where it searched when there is none", () => {
  expect(() => found()).toThrow(
    "No cluster was found: name a kubeconfig with --kubeconfig, or set KUBECONFIG",
  );
  expect(() => found({ env: inPod })).toThrow("this is not a Pod with a service account");
});

describe("several files in $KUBECONFIG", () => {
  const merged = (...files: string[]) =>
    found({ env: { KUBECONFIG: files.map((file) => join(home, file)).join(delimiter) } });
  const write = (file: string, content: object) => writeFile(join(home, file), JSON.stringify(content));
  const server = (name: string, address: string, more = {}) => ({
    name,
    cluster: { server: `https://${address}`, ...more },
  });

  it("are merged as kubectl merges them: a name in two files is taken whole from the first", async () => {
    await write("contexts", {
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      clusters: [server("c", "first.example")],
      "current-context": "x",
    });
    const keyAndCertificate = { "client-key": "key.pem", "client-certificate": "/cert.pem" };
    await mkdir(join(home, "other"));
    await write("other/rest", {
      contexts: [{ name: "x", context: { cluster: "d", user: "gone" } }],
      clusters: [server("c", "second.example", { "tls-server-name": "second" }), server("d", "d.example")],
      users: [{ name: "u", user: { ...keyAndCertificate, exec: { command: "./log-in" } } }],
      "current-context": "another",
    });
    const config = merged("contexts", "other/rest");
    expect(config.getCurrentContext()).toBe("x");
    expect(config.getCurrentCluster()).toMatchObject({ server: "https://first.example" });
    expect(config.getCurrentCluster()?.tlsServerName).toBeUndefined();
    // A path is relative to the file that has it.
    expect(config.getCurrentUser()).toMatchObject({
      keyFile: join(home, "other/key.pem"),
      certFile: "/cert.pem",
      exec: { command: join(home, "other/log-in") },
    });
  });

  it("may be missing, but not all", async () => {
    await writeKubeconfig("a", "https://a.example");
    expect(merged("missing", "a").getCurrentCluster()?.server).toBe("https://a.example");
    expect(() => merged("missing", "gone")).toThrow("missing: no such file");
  });
});
