import { readFileSync } from "node:fs";
import { join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { describe, expect, it } from "vitest";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import { kubeconfigLogin } from "../../lambda/kubernetes/kubeconfig-login.ts";

const loginOf = (config: object) => {
  const kubeconfig = new KubeConfig();
  kubeconfig.loadFromString(JSON.stringify({ apiVersion: "v1", kind: "Config", ...config }));
  return kubeconfigLogin(kubeconfig);
};
const base64 = (text = "") => Buffer.from(text).toString("base64");
/** Any certificate will do that a library brings along. */
const pems = join(import.meta.dirname, "../../node_modules/dynalite/ssl");
const configOf = (cluster: object, user: object) => ({
  clusters: [{ name: "c", cluster: { server: "https://c.example.com", ...cluster } }],
  users: [{ name: "u", user }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  "current-context": "x",
});

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
    const [cert, key] = ["server-crt.pem", "server-key.pem"].map((name) =>
      readFileSync(join(pems, name), "utf8"),
    );
    const user = { "client-certificate-data": base64(cert), "client-key-data": base64(key) };
    const { tls } = await loginOf(configOf({ "insecure-skip-tls-verify": true }, user)).access();
    expect([String(tls.cert), String(tls.key), tls.rejectUnauthorized]).toEqual([cert, key, false]);
  });

  it("gives all calls the same access until it is refreshed", async () => {
    const login = loginOf(configOf({}, { token: "t" }));
    const first = await login.access();
    expect(await login.access()).toBe(first);
    login.refresh();
    expect(await login.access()).not.toBe(first);
  });

  it("reports what is missing when no cluster is named", async () => {
    const failure = loginOf({ clusters: [], users: [], contexts: [] }).access();
    await expect(failure).rejects.toBeInstanceOf(BrokenSetupError);
    await expect(failure).rejects.toThrow(/set its current-context/);
  });

  it("reports why the user's own program could not log in", async () => {
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "no-such-program",
      interactiveMode: "Never",
    };
    const failure = loginOf(configOf({}, { exec })).access();
    await expect(failure).rejects.toBeInstanceOf(BrokenSetupError);
    await expect(failure).rejects.toThrow(/user cannot log in: .*no-such-program/);
  });

  /** A login whose kubeconfig gives these options for a request, in turn; the last ones stay. */
  const loginWith = (...given: (object | Error)[]) =>
    kubeconfigLogin({
      getCurrentCluster: () => ({ name: "c", server: "https://c.example.com", skipTLSVerify: false }),
      applyToHTTPSOptions: async (options) => {
        const next = given.length > 1 ? given.shift() : given[0];
        if (next instanceof Error) throw next;
        Object.assign(options, next);
      },
    });

  it.each([
    [{ auth: "me:secret" }, { authorization: "Basic bWU6c2VjcmV0" }],
    [{ auth: "me:secret", headers: { Authorization: "Bearer t" } }, { authorization: "Bearer t" }],
    [{ headers: { "X-Number": 7 } }, { "x-number": "7" }],
    [{}, {}],
  ])("shows what the kubeconfig gives: %j", async (options, headers) => {
    expect((await loginWith(options).access()).headers).toEqual(headers);
  });

  it("takes of a kubeconfig's options what concerns TLS, where there is a value", async () => {
    const tls = { rejectUnauthorized: true, servername: "c" };
    const login = loginWith({ ...tls, ca: undefined, agent: {}, timeout: 7 });
    expect(Object.entries((await login.access()).tls)).toEqual(Object.entries(tls));
  });

  it("reports a certificate that cannot be used, with its cause", async () => {
    const failure = loginWith({ cert: "no certificate" }).access();
    await expect(failure).rejects.toBeInstanceOf(BrokenSetupError);
    await expect(failure).rejects.toThrow(/^A certificate or key of the kubeconfig cannot be used: .+/);
    await expect(failure).rejects.toMatchObject({ cause: expect.any(Error) });
  });

  it.each([
    [
      new SyntaxError('"secret" is not JSON'),
      "its exec or auth-provider gave no credentials as kubectl expects them",
    ],
    [
      new TypeError("secret is undefined"),
      "its exec or auth-provider gave no credentials as kubectl expects them",
    ],
    [new Error("x".repeat(1_001)), "x".repeat(1_000)],
  ])("reports why the user cannot log in, and quotes no credentials: %s", async (error, reason) => {
    await expect(loginWith(error).access()).rejects.toThrow(
      new BrokenSetupError(`The kubeconfig's user cannot log in: ${reason}`),
    );
  });

  it("reads the kubeconfig again after a login that failed", async () => {
    const login = loginWith(new Error("no answer"), {});
    await expect(login.access()).rejects.toThrow("no answer");
    expect((await login.access()).server).toBe("https://c.example.com");
  });
});
