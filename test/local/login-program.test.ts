import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import type { Timer } from "../../lambda/kubernetes/transport.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { newFolder } from "../support/new-folder.ts";
import { selfSigned } from "../support/self-signed.ts";
import { base64, configOf, loginOf } from "./kubeconfigs.ts";

describe("logging in by a program", () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });

  /** A login by this shell script, which finds its folder in $FOLDER. */
  const loginBy = (script: string, timer?: Timer) => {
    const env = [{ name: "FOLDER", value: folder }];
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "sh", args: ["-c", script], env };
    return loginOf(configOf({}, { exec }), { timer });
  };
  /** A timer whose time is over when a test says so. */
  const aTimer = () => {
    const ends: (() => void)[] = [];
    const timer: Timer = (end) => {
      ends.push(end);
      return () => {};
    };
    return { timer, endTime: () => ends.at(-1)?.() };
  };
  const printing = (status: object) => `printf %s '${JSON.stringify({ status })}'`;

  it("sends its token, and presents its certificate", async () => {
    const { headers } = await loginBy(printing({ token: "t" })).access();
    expect(headers).toEqual({ authorization: "Bearer t" });
    const { cert: clientCertificateData, key: clientKeyData } = selfSigned();
    const { tls } = await loginBy(printing({ clientCertificateData, clientKeyData })).access();
    expect([tls.cert, tls.key]).toEqual([clientCertificateData, clientKeyData]);
  });

  it("says to the program which version of the credentials it reads, that nobody can answer it, and, where it asks, of which cluster", async () => {
    const apiVersion = "client.authentication.k8s.io/v1";
    const script = `printf %s "$KUBERNETES_EXEC_INFO" > "${folder}/info"; cat; ${printing({ token: "t" })}`;
    const cluster = { "certificate-authority-data": base64("ca"), "tls-server-name": "c" };
    const spec = async (provideClusterInfo: boolean) => {
      const exec = { apiVersion, command: "sh", args: ["-c", script], provideClusterInfo };
      await loginOf(configOf(cluster, { exec })).access();
      const { spec, ...about } = JSON.parse(readFileSync(join(folder, "info"), "utf8"));
      expect(about).toEqual({ apiVersion, kind: "ExecCredential" });
      return spec;
    };
    expect(await spec(false)).toEqual({ interactive: false });
    const server = "https://c.example.com";
    expect(await spec(true)).toEqual({ cluster: { server, ...cluster }, interactive: false });
  });

  it("runs the program again when what it printed is over", async () => {
    let ahead = 0;
    const clock = { now: () => after(noon, ahead) };
    const expirationTimestamp = after(noon, minutes(5)).toISOString();
    const script = `echo >> "${folder}/runs"; ${printing({ token: "t", expirationTimestamp })}`;
    const login = loginOf(configOf({}, { exec: { command: "sh", args: ["-c", script] } }), { clock });
    const runs = async () => {
      await login.access();
      return readFileSync(join(folder, "runs"), "utf8").length;
    };
    expect([await runs(), await runs()]).toEqual([1, 1]);
    ahead = minutes(5);
    expect([await runs(), await runs()]).toEqual([2, 2]);
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
    ["hangs", ': > "$FOLDER/$$"; exec sleep 600'],
    ["hangs and ignores SIGTERM", `trap '' TERM; : > "$FOLDER/$$"; exec sleep 600`],
    ["waits for another that hangs, with that one", 'sleep 600 & : > "$FOLDER/$!"; wait'],
  ])("kills a program that %s, and starts it again at the next call", async (_, script) => {
    const { timer, endTime } = aTimer();
    const login = loginBy(script, timer);
    // What has ended may not be waited for yet.
    const isAlive = (pid: string) =>
      existsSync(`/proc/${pid}/stat`) && /^\d+ \(\w+\) [^Z]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
    const alive = () => readdirSync(folder).filter(isAlive).length;
    for (const run of [1, 2]) {
      const failure = login.access().catch((error: unknown) => error);
      await expect.poll(() => readdirSync(folder), { timeout: 60_000 }).toHaveLength(run);
      await expect.poll(alive, { timeout: 60_000 }).toBe(1);
      endTime();
      expect(await failure).toEqual(
        new TryAgainError("The kubeconfig's user cannot log in: there was no answer within 1m"),
      );
      await expect.poll(alive, { timeout: 60_000 }).toBe(0);
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
