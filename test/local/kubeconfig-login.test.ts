import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import { kubeconfigLogin } from "../../local/run/kubeconfig-login.ts";
import { KubernetesTransport, type Timer } from "../../lambda/kubernetes/transport.ts";
import { readKubeconfig } from "../../local/run/kubeconfig.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { newFolder } from "../support/new-folder.ts";

const loginOf = (config: object, timer?: Timer) => {
  const kubeconfig = new KubeConfig();
  kubeconfig.loadFromString(JSON.stringify({ apiVersion: "v1", kind: "Config", ...config }));
  return kubeconfigLogin(kubeconfig, { timer });
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

  it("gives all calls the same access until it is refreshed, and leaves no timer", async () => {
    const timers = new Set<number>();
    const login = loginOf(configOf({}, { token: "t" }), (_, duration) => {
      timers.add(duration);
      return () => void timers.delete(duration);
    });
    const first = await login.access();
    expect(await login.access()).toBe(first);
    login.refresh();
    expect(await login.access()).not.toBe(first);
    expect(timers).toEqual(new Set());
  });

  it("reports what is missing when no cluster is named", async () => {
    const failure = loginOf({ clusters: [], users: [], contexts: [] }).access();
    await expect(failure).rejects.toBeInstanceOf(BrokenSetupError);
    await expect(failure).rejects.toThrow(/set its current-context/);
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
    const as = {
      as: "me",
      "as-groups": ["a", "b"],
      "as-uid": "7",
      "as-user-extra": { "acme.com/Team": ["x"] },
    };
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

  it("sends its calls to the proxy", async () => {
    const asked: unknown[] = [];
    const proxy = createServer((request, response) => response.end(String(asked.push(request.url))));
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void proxy.close());
    const url = `http://127.0.0.1:${Object(proxy.address()).port}`;
    const server = { server: "http://cluster.invalid", "insecure-skip-tls-verify": true };
    const access = await loginOf(configOf({ ...server, "proxy-url": url }, {})).access();
    const transport = new KubernetesTransport(access);
    const answer = await transport.send({ method: "GET", path: "/livez", headers: {} }, { timeout: 10_000 });
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

  it("reports an address that is none", async () => {
    const failure = loginOf(configOf({ server: "https://no address" }, {})).access();
    await expect(failure).rejects.toThrow(
      new BrokenSetupError(
        'The cluster has no usable address: "https://no address" is not like https://10.0.0.1:6443',
      ),
    );
  });

  it("reports a login provider without the credentials that it needs, and quotes none", async () => {
    const provider = { name: "oidc", config: { "id-token": 7 } };
    const failure = loginOf(configOf({}, { "auth-provider": provider })).access();
    await expect(failure).rejects.toThrow(
      new BrokenSetupError(
        "The kubeconfig's user cannot log in: its exec or auth-provider gave no credentials as kubectl expects them",
      ),
    );
  });
});

describe("logging in by a program", () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });

  /** A login by this shell script, which finds its folder in $FOLDER. */
  const loginBy = (script: string, timer?: Timer) => {
    const env = [{ name: "FOLDER", value: folder }];
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "sh", args: ["-c", script], env };
    return loginOf(configOf({}, { exec }), timer);
  };
  const printing = (status: object) => `printf %s '${JSON.stringify({ status })}'`;

  it("sends its token, and presents its certificate", async () => {
    const { headers } = await loginBy(printing({ token: "t" })).access();
    expect(headers).toEqual({ authorization: "Bearer t" });
    const [clientCertificateData, clientKeyData] = ["server-crt.pem", "server-key.pem"].map((name) =>
      readFileSync(join(pems, name), "utf8"),
    );
    const { tls } = await loginBy(printing({ clientCertificateData, clientKeyData })).access();
    expect([tls.cert, tls.key]).toEqual([clientCertificateData, clientKeyData]);
  });

  it("says to the program which version of the credentials it reads, and that nobody can answer it", async () => {
    const script = `printf %s "$KUBERNETES_EXEC_INFO" > "$FOLDER/info"; cat; ${printing({ token: "t" })}`;
    await loginBy(script).access();
    expect(JSON.parse(readFileSync(join(folder, "info"), "utf8"))).toEqual({
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      spec: { interactive: false },
    });
  });

  it("shows the program the cluster where it asks for that", async () => {
    const script = `printf %s "$KUBERNETES_EXEC_INFO" > "${folder}/info"; ${printing({ token: "t" })}`;
    const exec = { command: "sh", args: ["-c", script], provideClusterInfo: true };
    const cluster = { "certificate-authority-data": base64("ca"), "tls-server-name": "c" };
    await loginOf(configOf(cluster, { exec })).access();
    expect(JSON.parse(readFileSync(join(folder, "info"), "utf8")).spec).toEqual({
      cluster: { server: "https://c.example.com", ...cluster },
      interactive: false,
    });
  });

  it("runs the program again when what it printed is over", async () => {
    let ahead = 0;
    const clock = { now: () => after(noon, ahead) };
    const expirationTimestamp = after(noon, minutes(5)).toISOString();
    const script = `echo >> "${folder}/runs"; ${printing({ token: "t", expirationTimestamp })}`;
    const kubeconfig = new KubeConfig();
    kubeconfig.loadFromString(
      JSON.stringify(configOf({}, { exec: { command: "sh", args: ["-c", script] } })),
    );
    const login = kubeconfigLogin(kubeconfig, { clock });
    const runs = async () => {
      await login.access();
      return readFileSync(join(folder, "runs"), "utf8").length;
    };
    expect([await runs(), await runs()]).toEqual([1, 1]);
    ahead = minutes(5);
    expect([await runs(), await runs()]).toEqual([2, 2]);
  });

  it("kills with a program that hangs what it has started", async () => {
    let endTime = () => {};
    const login = loginBy('sleep 600 & echo $! > "$FOLDER/child"; wait', (end) => {
      endTime = end;
      return () => {};
    });
    const failure = login.access().catch((error: unknown) => error);
    const child = () => Number(readFileSync(join(folder, "child"), "utf8"));
    await expect.poll(child, { timeout: 10_000 }).toBeGreaterThan(0);
    const pid = child();
    endTime();
    expect(await failure).toBeInstanceOf(TryAgainError);
    // What has ended may not be waited for yet.
    const isAlive = () =>
      /^\d+ \(sleep\) [^Z]/.test(
        existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "utf8") : "",
      );
    await expect.poll(isAlive, { timeout: 10_000 }).toBe(false);
  });

  it("runs the program again when the login is refreshed, also where the token has no end", async () => {
    const login = loginBy(
      `echo >> "$FOLDER/runs"; echo "{\\"status\\":{\\"token\\":\\"t$(grep -c '' "$FOLDER/runs")\\"}}"`,
    );
    const token = async () => (await login.access()).headers.authorization;
    expect([await token(), await token()]).toEqual(["Bearer t1", "Bearer t1"]);
    login.refresh();
    expect(await token()).toBe("Bearer t2");
  });

  it.each([
    ["hangs", ""],
    ["hangs and ignores SIGTERM", "trap '' TERM;"],
  ])("kills a program that %s, and starts it again at the next call", async (_, first) => {
    let endTime = () => {};
    const login = loginBy(`${first} : > "$FOLDER/$$"; exec sleep 600`, (end) => {
      endTime = end;
      return () => {};
    });
    const isAlive = (pid: string) => {
      try {
        return process.kill(Number(pid), 0);
      } catch {
        return false;
      }
    };
    const alive = () => readdirSync(folder).filter(isAlive).length;
    for (const run of [1, 2]) {
      const failure = login.access().catch((error: unknown) => error);
      await expect.poll(() => readdirSync(folder), { timeout: 10_000 }).toHaveLength(run);
      expect(alive()).toBe(1);
      endTime();
      expect(await failure).toEqual(
        new TryAgainError("The kubeconfig's user cannot log in: there was no answer within 1m"),
      );
      await expect.poll(alive, { timeout: 10_000 }).toBe(0);
    }
  });

  it("reads the kubeconfig again after a login that failed", async () => {
    const login = loginBy(`cat "$FOLDER/credentials"`);
    await expect(login.access()).rejects.toThrow("No such file");
    writeFileSync(join(folder, "credentials"), '{"status":{"token":"t"}}');
    expect((await login.access()).headers).toEqual({ authorization: "Bearer t" });
  });

  const noCredentials = /^its exec or auth-provider gave no credentials as kubectl expects them$/;
  it.each([
    ["is not there", { command: "no-such-program" }, /^spawn no-such-program ENOENT$/],
    [
      "is not there, and its kubeconfig says where to get it",
      { command: "no-such-program", installHint: "Get it." },
      /^spawn no-such-program ENOENT Get it\.$/,
    ],
    ["fails", { command: "sh", args: ["-c", "echo the reason >&2; exit 7"] }, /^the reason$/],
    ["fails without a reason", { command: "sh", args: ["-c", "exit 7"] }, /^sh ended with 7$/],
    ["prints a long reason", { command: "sh", args: ["-c", "printf '%02000d' 0 >&2; exit 1"] }, /^0{1000}$/],
    ["prints without an end", { command: "yes" }, /^yes printed more than credentials are long$/],
    ["prints nothing", { command: "true" }, noCredentials],
    ["prints a half", { command: "echo", args: ['{"status":{"token":"secret"'] }, noCredentials],
    ["prints no status", { command: "echo", args: ["{}"] }, noCredentials],
    ["prints two words", { command: "echo", args: ['{"status":{"token":"a b"}}'] }, noCredentials],
  ])("reports why, where the program %s", async (_, exec, reason) => {
    const error = await loginOf(configOf({}, { exec }))
      .access()
      .catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(BrokenSetupError);
    const [, said = ""] = /^The kubeconfig's user cannot log in: (.*)$/s.exec((error as Error).message) ?? [];
    expect(said).toMatch(reason);
  });
});
