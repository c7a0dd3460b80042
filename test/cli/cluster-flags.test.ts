import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { invoke } from "../../cli/control/control.ts";
import { awsConfig, inSamePlace, onSameCluster } from "../../cli/terminal/cluster-flags.ts";
import { newFolder } from "../support/new-folder.ts";
import { typed } from "../support/typed.ts";
import { holder } from "./fake-control.ts";

it("takes the cluster from the environment where no flag names it", async () => {
  const control = await holder(() => ({
    resumed: [],
    because: "nothing was paused",
    failed: 0,
    left: false,
  }));
  control.env = { KARPENTER_NODE_HOLDER_CLUSTER: "staging" };
  await control.run("resume");
  await control.run("resume", "--cluster", "prod");
  expect(control.functionNames).toEqual([
    "karpenter-node-holder-staging-control",
    "karpenter-node-holder-prod-control",
  ]);
});

it("doctor needs the cluster's name beside a kubeconfig, and names that of the environment where it cannot be used", async () => {
  const words = ["doctor", "--kubeconfig", "any"];
  const unnamed = await typed(words);
  expect([unnamed.exit, unnamed.reported]).toEqual([2, expect.stringContaining("error: name the cluster: ")]);
  const { exit, reported } = await typed(words, { KARPENTER_NODE_HOLDER_CLUSTER: "a/b" });
  expect([exit, reported]).toEqual([
    2,
    expect.stringContaining("KARPENTER_NODE_HOLDER_CLUSTER cannot be used"),
  ]);
});

it("refuses a profile's region that is none, without asking for a bug report", async () => {
  const config = join(newFolder(), "config");
  await writeFile(config, "[default]\nregion = Frankfurt!\n");
  for (const [name, value] of Object.entries({ AWS_CONFIG_FILE: config, AWS_REGION: undefined }))
    vi.stubEnv(name, value);
  const { reported } = await typed(["resume", "--cluster", "prod"]).finally(() => vi.unstubAllEnvs());
  expect(reported).toMatch(/^error: Region not accepted.*\n.* like eu-central-1/);
});

it("makes AWS clients of the flags, then of the environment, where a profile has its own region", async () => {
  const env = { AWS_DEFAULT_REGION: "eu-west-1", AWS_CONFIG_FILE: join(newFolder(), "config") };
  await writeFile(env.AWS_CONFIG_FILE, "[profile ops]\n");
  const endpointUrl = "http://127.0.0.1:1";
  expect(awsConfig({ region: "us-east-1", profile: "ops", endpointUrl }, env)).toEqual({
    region: "us-east-1",
    profile: "ops",
    endpoint: endpointUrl,
  });
  expect(awsConfig({}, env)).toEqual({ region: "eu-west-1" });
  expect(awsConfig({}, { ...env, AWS_REGION: "us-west-2" })).toEqual({ region: "us-west-2" });
  expect(awsConfig({ profile: "ops" }, env)).toEqual({ profile: "ops" });
  // Without files, on an instance with a role.
  expect(awsConfig({ profile: "default" }, env)).toEqual({ profile: "default" });
  for (const region of ["us-gov-west-1", "eu-west-10"])
    expect(awsConfig({ region }, env)).toEqual({ region });
  for (const region of ["Eu-west-1", "eu-west-1x", "eu-west-", "eu-1"])
    expect(() => awsConfig({}, { AWS_REGION: region })).toThrow("must be a region");
  const elsewhere = { ...env, AWS_REGION: "us-west-2" };
  expect(awsConfig({ profile: "ops" }, elsewhere)).toEqual({ profile: "ops", region: "us-west-2" });
});

it("calls AWS through the environment's proxy, but never this machine itself", async () => {
  const asked: unknown[] = [];
  const proxy = createServer((request, response) => {
    asked.push(request.url);
    response.end("{}");
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  const env = { HTTP_PROXY: `127.0.0.1:${Object(proxy.address()).port}` };
  const endpointUrl = "http://lambda.invalid";
  const config = {
    ...awsConfig({ region: "eu-west-1", endpointUrl }, env),
    credentials: { accessKeyId: "fake", secretAccessKey: "fake" },
  };
  await invoke(config, { cluster: "prod", part: "control", request: {}, otherwise: "" });
  expect(asked).toEqual([expect.stringMatching(/^http:\/\/lambda\.invalid\/.*control\/invocations$/)]);
  expect(awsConfig({ endpointUrl: "http://127.0.0.1:1" }, env)).toEqual({ endpoint: "http://127.0.0.1:1" });
  expect(awsConfig({}, { ...env, AWS_ENDPOINT_URL: "http://127.0.0.1:1" })).toEqual({});
});

it("names the profiles there are where there is none of this name", async () => {
  const folder = newFolder();
  const env = {
    AWS_CONFIG_FILE: join(folder, "config"),
    AWS_SHARED_CREDENTIALS_FILE: join(folder, "credentials"),
  };
  await writeFile(
    env.AWS_CONFIG_FILE,
    '[default]\n [ profile  staging ]\n[profile "my sso-session x"]\n[sso-session corp]\nregion = x [none]\n',
  );
  await writeFile(env.AWS_SHARED_CREDENTIALS_FILE, " [ ci ]\naws_access_key_id = x [none]\n");
  const resume = ["resume", "--cluster", "prod"];
  for (const { exit, reported } of [
    await typed([...resume, "--profile", "nosuch"], env),
    await typed(resume, { ...env, AWS_PROFILE: "nosuch" }),
  ]) {
    expect(exit).toBe(2);
    expect(reported).toContain(
      "there is no AWS profile nosuch (there are: ci, default, my sso-session x, staging)",
    );
  }
});

it("prints commands that meet the region and the profile of the flags", () => {
  const remedy = "Read its log: aws logs tail /aws/lambda/x --since 1h, then npx it release --cluster a-b.";
  expect(inSamePlace(remedy, {})).toBe(remedy);
  expect(inSamePlace(remedy, { region: "eu-west-1", profile: "my ops" })).toBe(
    "Read its log: aws logs tail --region eu-west-1 --profile 'my ops' /aws/lambda/x --since 1h, " +
      "then npx it release --cluster a-b --region eu-west-1 --profile 'my ops'.",
  );
});

it("prints commands of kubectl for the cluster that the flags name", () => {
  const change = "npx karpenter-node-holder manifest | kubectl apply -f -; kubectl annotate node a b-";
  expect(onSameCluster(change, {})).toBe(change);
  expect(onSameCluster(change, { kubeconfig: "my file", context: "prod" })).toBe(
    change.replaceAll("kubectl", "kubectl --kubeconfig 'my file' --context prod"),
  );
});
