import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { commandLine, commands } from "../../cli/command-line.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";
import { newFolder } from "../support/new-folder.ts";

const home = newFolder();
const nowhere = join(home, "nowhere");
const noFiles = { AWS_CONFIG_FILE: nowhere, AWS_SHARED_CREDENTIALS_FILE: nowhere };
const see = "See `";
const unchanged = "Nothing was changed. See `";
const didYouMean = (name: string) => `(Did you mean ${name}?)`;
const unreachable = ["AWS could not be reached", "Check the network, --region and --endpoint-url."] as const;
const kubeconfig = join(home, "kubeconfig");
const openFolder = join(home, "open");
/** Refuses every connection. */
const away = "--cluster prod --region us-east-1 --endpoint-url http://127.0.0.1:1";
const template = "template --cluster prod --bucket assets";
const advise = "advise --cluster prod";

/** A wrong call, what its first line names, and its second line. */
const wrongCalls: readonly (readonly [call: string, failed: string, remedy: string])[] = [
  ["hodl", "hodl", didYouMean("hold")],
  ["--loud", "unknown option '--loud'", see],
  ["help hodl", "unknown command 'hodl'", didYouMean("hold")],
  ["help nonsense", "unknown command 'nonsense'", see],
  ["status", "--cluster NAME, or set KARPENTER_NODE_HOLDER_CLUSTER", see],
  ["status --cluter prod", "--cluter", didYouMean("--cluster")],
  ["status --cluster a/b", "a/b", see],
  ["status --cluster prod -o xml", "xml", see],
  ["status --cluster prod --every 0s", "from 1s to 1h", see],
  ["status --cluster prod --endpoint-url banana", "It must be an address like https://", see],
  [
    "status --cluster prod --region Frankfurt!",
    '--region must be a region like eu-central-1, not "F',
    unchanged,
  ],
  ["status --cluster prod --profile nosuch", "there is no AWS profile nosuch", unchanged],
  ["status --cluster prod", "no AWS region is set", "Use --region, or set AWS_REGION."],
  [`status --run ${nowhere}`, nowhere, "Start it, or name the folder of its --data"],
  [`status ${away}`, ...unreachable],
  ["hold --cluster prod", "--reason", see],
  ["hold --cluster prod --reason x --for 5s", "a duration from 1m to 24h", see],
  ["hold --cluster prod --reason x --scope planet", '"cluster" or "nodepool/NAME"', see],
  [`hold --reason x ${away}`, ...unreachable],
  ["release --cluster prod", "add --force", unchanged],
  [`release --force ${away}`, ...unreachable],
  ["pause --cluster prod --for 9999h", "9999h", see],
  [`pause ${away}`, ...unreachable],
  ["resume --cluster prod --scope nodes/x", "nodes/x", see],
  [`resume ${away}`, ...unreachable],
  ["history --cluster prod --limit 0", "--limit", see],
  [`history ${away}`, ...unreachable],
  ["doctor --cluster", "--cluster", see],
  [`doctor ${away}`, "credentials", "Follow the remedies above."],
  [`${advise} --holds 1x`, "durations from 1m to 24h", see],
  [`${advise} --holds 20m,48h`, "durations from 1m to 24h", see],
  [`${advise} --price cheap`, "an amount", see],
  [`${advise} --from x --since 1h`, "cannot be used with", see],
  [`${advise} --from ${nowhere}`, nowhere, unchanged],
  [`${advise} --from /dev/null`, "no launch of a Karpenter node of cluster prod", "Does the export contain"],
  [`advise ${away}`, ...unreachable],
  ["manifest --karpenter v2", "--karpenter must be v1 or v0.31", unchanged],
  ["manifest --hold-annotation nokey", "--hold-annotation", unchanged],
  ["template --cluster prod", "--bucket", see],
  [`${template} --vpc x`, "--vpc", "Deploy with the CDK instead"],
  [`${template} --hold 1s`, "--hold must be", unchanged],
  [`run --kubeconfig ${nowhere}`, nowhere, unchanged],
  [
    `run --kubeconfig ${kubeconfig} --data ${openFolder}`,
    "others may write in it",
    "Take that right away (chmod go-w), or choose",
  ],
  ["run --page 0", "--page", see],
];

const names = commands.map((make) => make(new CollectedTerminal()).name());

describe("the first line of an error says what failed, the second what to do:", () => {
  beforeAll(() => {
    mkdirSync(openFolder);
    chmodSync(openFolder, 0o777);
    const context = { name: "one", context: { cluster: "one", user: "one" } };
    const clusters = [{ name: "one", cluster: { server: "https://127.0.0.1:1" } }];
    const users = [{ name: "one", user: { token: "secret" } }];
    const content = { contexts: [context], clusters, users, "current-context": "one" };
    writeFileSync(kubeconfig, JSON.stringify(content));
    const environment = { ...noFiles, AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    for (const name of ["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"]) vi.stubEnv(name, undefined);
  });
  afterAll(() => {
    vi.unstubAllEnvs();
  });

  it.each(wrongCalls)("%s", async (call, failed, remedy) => {
    const terminal = new CollectedTerminal({ HOME: home, ...noFiles });
    const exit = await commandLine(call.split(" "), terminal);
    expect(exit).toBe([see, unchanged].includes(remedy) || remedy.startsWith("(") ? 2 : 1);
    const [first = "", second = ""] = terminal.reported.split("\n");
    expect(first).toMatch(/^error: /);
    expect(first).toContain(failed);
    expect(second).toContain(remedy);
    const [name = ""] = call.split(" ");
    const command = names.includes(name) ? `karpenter-node-holder ${name}` : "karpenter-node-holder";
    if (exit === 2) expect(terminal.reported).toMatch(new RegExp(`See \`${command} --help\`\\.$`));
  });

  it("tries every command", () => {
    const tried = new Set(wrongCalls.map(([call]) => call.split(" ")[0]));
    expect(names.filter((name) => !tried.has(name))).toEqual([]);
  });
});
