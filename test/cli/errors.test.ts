import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { commandLine } from "../../cli/command-line.ts";
import { version } from "../../lambda/version.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";
import { newFolder } from "../support/new-folder.ts";

const home = newFolder();
const nowhere = join(home, "nowhere");
const noFiles = { AWS_CONFIG_FILE: nowhere, AWS_SHARED_CREDENTIALS_FILE: nowhere };
const kubeconfig = join(home, "kubeconfig");
const openFolder = join(home, "open");
/** Refuses every connection. */
const away = "--cluster prod --region us-east-1 --endpoint-url http://127.0.0.1:1";

/** Wrong calls, by the command whose help helps. */
const wrongCalls: Readonly<Record<string, readonly string[]>> = {
  "": ["hodl", "--loud", "help hodl", "help nonsense"],
  status: [
    "",
    "--cluter prod",
    "--cluster a/b",
    "--cluster prod -o xml",
    "--cluster prod --every 0s",
    "--cluster prod --endpoint-url xhttps://a",
    "--cluster prod --region Frankfurt!",
    "--cluster prod --profile nosuch",
    "--cluster prod",
    "--run --cluster prod",
    "--cluster prod --context y",
    "--cluster prod --exit-code --watch",
    `--run ${kubeconfig}`,
    away,
  ],
  hold: ["--cluster prod", "--cluster prod --reason x --scope planet"],
  release: [
    "--cluster prod",
    "--cluster prod --force --hold-annotation example.com/stay",
    "--force --kubeconfig x --hold-annotation nokey",
  ],
  wait: [`--for held --kubeconfig ${nowhere}`],
  completion: ["", "tcsh"],
  history: ["--cluster prod --limit 0", "--cluster prod --limit 2x"],
  doctor: ["--cluster", away],
  advise: [
    ...["20m,48h", "20m,59s"].map((holds) => `--cluster prod --holds ${holds}`),
    ...["cheap", "-1"].map((price) => `--cluster prod --price ${price}`),
    "--time-zone Mars",
    "--from x",
    `--log ${nowhere}`,
    "--log /",
    "--log /dev/null",
    `--cluster prod --from ${nowhere}`,
    "--cluster prod --from /dev/null",
    away,
  ],
  manifest: ["--karpenter v2", "--hold-annotation nokey"],
  template: [
    "--cluster prod --bucket assets --vpc x",
    "--cluster prod --bucket assets --hold 1s --drift-wait 1s",
  ],
  run: [
    `--kubeconfig ${nowhere}`,
    `--kubeconfig ${kubeconfig} --data ${openFolder}`,
    "--page 65536",
    "--metrics-host ::1",
    "--observe --mode hold",
  ],
};

describe("the first line of an error", () => {
  beforeAll(() => {
    mkdirSync(openFolder);
    chmodSync(openFolder, 0o777);
    const context = { name: "one", context: { cluster: "one", user: "one" } };
    const clusters = [{ name: "one", cluster: { server: "https://127.0.0.1:1" } }];
    const users = [{ name: "one", user: { token: "secret" } }];
    const content = { contexts: [context], clusters, users, "current-context": "one" };
    writeFileSync(kubeconfig, JSON.stringify(content));
    const environment = {
      ...noFiles,
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      AWS_MAX_ATTEMPTS: "1",
    };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    for (const name of ["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"]) vi.stubEnv(name, undefined);
  });
  afterAll(() => {
    vi.unstubAllEnvs();
  });

  // A change is accepted with `npx vitest run test/cli/errors --update`, and read in the diff.
  it("says what failed, the second what to do", async () => {
    const printed: string[] = [];
    const calls = Object.entries(wrongCalls).flatMap(([name, all]) => all.map((call) => [name, call]));
    for (const [name = "", call] of calls) {
      const terminal = new CollectedTerminal({ HOME: home, ...noFiles });
      const exit = await commandLine(`${name} ${call}`.trim().split(" "), terminal);
      expect(terminal.reported).toMatch(/^error: .+\n.+/);
      // Of a call that is not understood, the help says what to do.
      const reported = terminal.reported.replace(/\nFlags follow the command: .+$/, "");
      const [said, help] = reported.split(/\n(?:Nothing was changed\. )?See (?=`.+$)/);
      if (exit === 2) expect(help).toBe(`\`${`karpenter-node-holder ${name}`.trim()} --help\`.`);
      else expect([exit, help]).toEqual([1, undefined]);
      printed.push(`$ ${name} ${call}`, `${said}`);
    }
    const text = printed.join("\n").replaceAll(home, "HOME").replaceAll(version, "VERSION");
    await expect(text).toMatchFileSnapshot("printed/errors.txt");
  });
});
