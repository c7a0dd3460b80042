import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { dump } from "js-yaml";
import { describe, expect, it } from "vitest";
import { BadInputError, BrokenSetupError } from "../../lambda/core/errors.ts";
import { readKubeconfig } from "../../local/run/kubeconfig.ts";
import { kubeconfigLogin } from "../../local/run/kubeconfig-login.ts";
import { base64, configOf } from "../local/kubeconfigs.ts";
import fc from "../support/fast-check.ts";
import { newFolder } from "../support/new-folder.ts";
import { swapped } from "./faulty-answers.ts";
import { errorOf, expectClear, fuzzed } from "./fuzz.ts";

const folder = newFolder();
const path = join(folder, "config");

const secrets = ["the-secret-token", "the-secret-password", "the-secret-key"];
const [token = "", password = "", key = ""] = secrets;
const whole = configOf(
  { "certificate-authority-data": base64("ca"), "tls-server-name": "c" },
  { token, username: "me", password, "client-key-data": base64(key), as: "another-user" },
);
const asYaml = dump(whole);

/** The result of a kubeconfig: a login, or an error. */
async function logIn(text: string) {
  writeFileSync(path, text);
  return kubeconfigLogin(readKubeconfig({ paths: [path] })).access();
}
const readOf = (text: string) => errorOf(Promise.resolve().then(() => logIn(text)));

describe("a broken kubeconfig", () => {
  const value = fc.constantFrom<unknown>(null, 7, true, "", "x\ny", "ftp://x", [], {}, { toString: 1 }, [
    "a",
  ]);
  const odd = fc.oneof(
    fc.tuple(fc.nat(), value).map(([which, other]) => swapped(JSON.stringify(whole), which, other)),
    fc
      .tuple(fc.nat({ max: asYaml.length }), fc.nat({ max: 40 }), fc.string({ unit: "binary", maxLength: 8 }))
      .map(([at, length, put]) => asYaml.slice(0, at) + put + asYaml.slice(at + length)),
    fc
      .tuple(
        fc.nat({ max: asYaml.length }),
        fc.constantFrom("*", "&", "!", "!!js/function ", "- ", "{", '"', "\t", "%", "|"),
      )
      .map(([at, put]) => asYaml.slice(0, at) + put + asYaml.slice(at)),
    fc.json(),
  );

  fuzzed(
    "is used, or refused with a clear error without secrets",
    async (text) => {
      const error = await readOf(text);
      if (error) expectClear(error, [BadInputError, BrokenSetupError], secrets);
    },
    { runs: 250, given: [odd] },
  );

  it("is refused at once when it is too large, or grows too large when it is parsed", async () => {
    expect(await readOf(" ".repeat(17 * 1024 * 1024))).toMatchObject({
      message: expect.stringContaining("too large"),
    });
    const levels = Array.from({ length: 30 }, (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n},`.repeat(9)}]`);
    const laughs = ["l0: &l0 [lol]", ...levels, "users: *l30", "clusters: *l30"].join("\n");
    expectClear(await readOf(laughs), [BadInputError], []);
  });
});

describe("a kubeconfig with a feature that we do not support", () => {
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "true", interactiveMode: "Never" };

  const ofCluster = (cluster: object) => configOf(cluster, {});
  const ofUser = (user: object) => configOf({}, user);
  it.each<[string, object, RegExp]>([
    ["a proxy that speaks SOCKS", ofCluster({ "proxy-url": "socks5://proxy" }), /cluster's proxy-url/],
    ["groups that are none", ofUser({ as: "me", "as-groups": "admins" }), /as-groups/],
    ["extra fields that are none", ofUser({ as: "me", "as-user-extra": { a: "b" } }), /as-user-extra/],
    [
      "a login of another kind",
      ofUser({ "auth-provider": { name: "gcp" } }),
      /auth-provider .* must be oidc/,
    ],
    [
      "a program that prompts",
      ofUser({ exec: { ...exec, interactiveMode: "Always" } }),
      /there is no prompt/,
    ],
    ["another protocol", ofCluster({ server: "ftp://c" }), /server must be an address like https/],
    [
      "a password in the address",
      ofCluster({ server: "https://me:the-secret-password@c" }),
      /must carry no password/,
    ],
    [
      "a query in the address",
      ofCluster({ server: "https://c/?token=the-secret-token" }),
      /must end with its path/,
    ],
    ["a token of two lines", ofUser({ token: "the-secret-token\n" }), /the user's token must be one word/],
    ["a port without TLS", ofCluster({ server: "http://c" }), /HTTP protocol is not allowed/],
  ])("is refused and not ignored: %s", async (_, config, problem) => {
    const error = await readOf(JSON.stringify(config));
    expect(error).toMatchObject({ message: expect.stringMatching(problem) });
    expectClear(error, [BadInputError, BrokenSetupError], secrets);
  });

  it("is ignored in a context that is not used", async () => {
    const other = { name: "other", cluster: { server: "https://o", "proxy-url": "socks5://proxy" } };
    const config = configOf({}, { token });
    expect(
      await readOf(JSON.stringify({ ...config, clusters: [...config.clusters, other] })),
    ).toBeUndefined();
  });

  it("is refused when its context names a missing user, because it would be anonymous", async () => {
    const config = JSON.stringify({ ...configOf({}, {}), users: [] });
    expect(await readOf(config)).toMatchObject({ message: expect.stringContaining("no existing user") });
  });
});
