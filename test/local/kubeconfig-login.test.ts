import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import { KubernetesTransport, type Timer } from "../../lambda/kubernetes/transport.ts";
import { readKubeconfig } from "../../local/run/kubeconfig.ts";
import { kubeconfigLogin } from "../../local/run/kubeconfig-login.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { newFolder } from "../support/new-folder.ts";
import { selfSigned } from "../support/self-signed.ts";
import { base64, configOf, loginOf } from "./kubeconfigs.ts";

describe("logging in by kubeconfig", () => {
  it("sends a token and trusts the cluster's certificate", async () => {
    const login = loginOf(configOf({ "certificate-authority-data": base64("ca") }, { token: "t" }));
    const { server, headers, tls } = await login.access();
    expect(server).toBe("https://c.example.com");
    expect(headers).toEqual({ authorization: "Bearer t" });
    expect(String(tls.ca)).toBe("ca");
  });

  it.each([
    "http://c.example.com",
    "http://10.0.0.1:8080",
    "http://not-localhost",
    "http://127.0.0.1.example.com",
  ])("sends no token unencrypted to %s", async (server) => {
    const login = loginOf(configOf({ server, "insecure-skip-tls-verify": true }, { token: "secret" }));
    await expect(login.access()).rejects.toThrow(BrokenSetupError);
    await expect(login.access()).rejects.toThrow(
      `credentials for ${server}, which would receive them unencrypted: use https://`,
    );
    await expect(login.access()).rejects.not.toThrow("secret");
  });

  it.each([
    "http://127.0.0.1:8001",
    "http://127.10.20.30:8001",
    "http://localhost:8001",
    "http://[::1]:8001",
  ])("sends a token to %s, which does not leave this machine", async (server) => {
    const login = loginOf(configOf({ server, "insecure-skip-tls-verify": true }, { token: "t" }));
    expect((await login.access()).headers).toEqual({ authorization: "Bearer t" });
  });

  it("presents a client certificate", async () => {
    const { cert, key } = selfSigned();
    const user = { "client-certificate-data": base64(cert), "client-key-data": base64(key) };
    const { tls } = await loginOf(configOf({ "insecure-skip-tls-verify": true }, user)).access();
    expect([String(tls.cert), String(tls.key), tls.rejectUnauthorized]).toEqual([cert, key, false]);
  });

  it("gives all calls the same access until it is refreshed, and leaves no timer", async () => {
    const timers = new Set<number>();
    const timer: Timer = (_, duration) => {
      timers.add(duration);
      return () => void timers.delete(duration);
    };
    const login = loginOf(configOf({}, { token: "t" }), { timer });
    const first = await login.access();
    expect(await login.access()).toBe(first);
    login.refresh();
    expect(await login.access()).not.toBe(first);
    expect(timers).toEqual(new Set());
  });

  it.each<[object, object]>([
    [{ username: "me", password: "secret" }, { authorization: "Basic bWU6c2VjcmV0" }],
    [{ username: "me", password: "secret", token: "t" }, { authorization: "Bearer t" }],
    [{ as: "another" }, { "impersonate-user": "another" }],
    [{}, {}],
  ])("shows what the kubeconfig gives: %j", async (user, headers) => {
    expect((await loginOf(configOf({}, user)).access()).headers).toEqual(headers);
  });

  it("impersonates with groups, a UID and more, as the kubeconfig says", async () => {
    const more = { "as-uid": "7", "as-user-extra": { "acme.com/Team": ["x"] } };
    const as = { as: "me", "as-groups": ["a", "b"], ...more };
    const file = join(newFolder(), "config");
    writeFileSync(file, JSON.stringify(configOf({}, as)));
    const { headers } = await kubeconfigLogin(readKubeconfig({ paths: [file] })).access();
    expect(headers).toEqual({
      ...{ "impersonate-user": "me", "impersonate-group": ["a", "b"], "impersonate-uid": "7" },
      "impersonate-extra-acme.com%2Fteam": ["x"],
    });
  });

  it("reads a token from its file, beside the kubeconfig, and again after a minute", async () => {
    const folder = newFolder();
    const [file, tokenFile] = [join(folder, "config"), join(folder, "token")];
    writeFileSync(file, JSON.stringify(configOf({}, { tokenFile: "token", token: "old" })));
    let ahead = 0;
    const clock = { now: () => after(noon, ahead) };
    const login = kubeconfigLogin(readKubeconfig({ paths: [file] }), { clock });
    const token = async () => (await login.access()).headers.authorization;
    writeFileSync(tokenFile, "t1");
    expect(await token()).toBe("Bearer t1");
    writeFileSync(tokenFile, "t2");
    ahead = seconds(59);
    expect(await token()).toBe("Bearer t1");
    ahead = minutes(1);
    expect(await token()).toBe("Bearer t2");
  });

  it("goes through the kubeconfig's proxy, else through that of the environment, which is not for this machine", async () => {
    const proxyOf = async (cluster: object) => (await loginOf(configOf(cluster, {})).access()).proxy;
    vi.stubEnv("HTTPS_PROXY", "http://env:1");
    vi.stubEnv("NO_PROXY", "a.example");
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await proxyOf({ "proxy-url": "http://own:1" })).toMatchObject({ HTTPS_PROXY: "http://own:1" });
    expect(await proxyOf({})).toMatchObject({ HTTPS_PROXY: "http://env:1", NO_PROXY: "a.example" });
    expect(await proxyOf({ server: "https://127.0.0.1:6443" })).toBeUndefined();
  });

  it.each([
    ["is no address", "http://user:s3/cret@proxy.example:3128"],
    ["is of a SOCKS proxy, which Node.js would ignore", "socks5://user:s3cret@proxy.example:1080"],
  ])("names a proxy's variable that %s, and shows no password in it", async (_, given) => {
    vi.stubEnv("HTTPS_PROXY", given);
    onTestFinished(() => void vi.unstubAllEnvs());
    const connected = async () => new KubernetesTransport(await loginOf(configOf({}, {})).access());
    const error: unknown = await connected().catch((one: unknown) => one);
    expect(String(error)).toContain(
      "HTTPS_PROXY must be the address of an HTTP proxy, like http://10.0.0.1:3128",
    );
    expect(String(error)).not.toContain("cret");
  });

  it("does not matter where NO_PROXY names the host, whatever proxy there is", async () => {
    vi.stubEnv("HTTPS_PROXY", "socks5://proxy.example:1080");
    onTestFinished(() => void vi.unstubAllEnvs());
    const proxyFor = async (hosts: string) => {
      vi.stubEnv("NO_PROXY", hosts);
      const { proxy } = await loginOf(configOf({ server: "https://cluster.example" }, {})).access();
      return proxy;
    };
    for (const hosts of ["*", "a.b cluster.example", ".example", "*.example,a.b"])
      expect(await proxyFor(hosts), hosts).toBeUndefined();
    for (const hosts of ["ter.example", "a.cluster.example", ","])
      await expect(proxyFor(hosts), hosts).rejects.toThrow("HTTP proxy");
  });

  it("sends its calls to the proxy", async () => {
    const asked: unknown[] = [];
    const proxy = createServer((request, response) => response.end(String(asked.push(request.url))));
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void proxy.close());
    const url = `http://127.0.0.1:${Object(proxy.address()).port}`;
    const server = { server: "http://cluster.invalid", "insecure-skip-tls-verify": true };
    const access = await loginOf(configOf({ ...server, "proxy-url": url }, {})).access();
    const transport = new KubernetesTransport(access);
    const answer = await transport.send({ method: "GET", path: "/livez", headers: {} }, { timeout: 60_000 });
    expect([answer.body, asked]).toEqual(["1", ["http://cluster.invalid/livez"]]);
    transport.close();
  });

  it("takes of a kubeconfig what concerns TLS, where there is a value", async () => {
    const { tls } = await loginOf(configOf({ "tls-server-name": "c" }, {})).access();
    expect(Object.entries(tls)).toEqual([["servername", "c"]]);
  });

  it("reports a certificate that cannot be used, with its cause", async () => {
    const user = { "client-certificate-data": base64("no certificate") };
    const failure = loginOf(configOf({}, user)).access();
    await expect(failure).rejects.toBeInstanceOf(BrokenSetupError);
    await expect(failure).rejects.toThrow(/^A certificate or key of the kubeconfig cannot be used: .+/);
    await expect(failure).rejects.toMatchObject({ cause: expect.any(Error) });
  });

  it.each([
    [
      "that no cluster is named",
      { apiVersion: "v1", kind: "Config", clusters: [], users: [], contexts: [] },
      "the kubeconfig names no current cluster: set its current-context",
    ],
    [
      "an address that is none",
      configOf({ server: "https://no address" }, {}),
      'The cluster has no usable address: "https://no address" is not like https://10.0.0.1:6443',
    ],
    [
      "a login provider without the credentials that it needs, and quotes none",
      configOf({}, { "auth-provider": { name: "oidc", config: { "id-token": 7 } } }),
      "The kubeconfig's user cannot log in: its exec or auth-provider gave no credentials as kubectl expects them",
    ],
  ])("reports %s", async (_, config, message) => {
    await expect(loginOf(config).access()).rejects.toThrow(new BrokenSetupError(message));
  });
});
