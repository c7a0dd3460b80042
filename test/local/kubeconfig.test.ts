import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { clusterNameIn, readKubeconfig } from "../../local/run/kubeconfig.ts";
import { newFolder } from "../support/new-folder.ts";

const config = (cluster: string, current?: string) => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: [
    { name: cluster, cluster: { server: "https://a.example" } },
    { name: "b", cluster: { server: "https://b.example" } },
  ],
  users: [{ name: "me", user: {} }],
  contexts: [
    { name: "one", context: { cluster, user: "me" } },
    { name: "two", context: { cluster: "b", user: "me" } },
    { name: "lost", context: { cluster: "gone", user: "me" } },
  ],
  ...(current && { "current-context": current }),
});

describe("a kubeconfig", () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = newFolder();
    path = join(folder, "config");
  });
  const write = (content: unknown) => writeFile(path, JSON.stringify(content));

  it("is used with its current context, or with the one named", async () => {
    await write(config("a", "one"));
    expect(readKubeconfig({ paths: [path] }).getCurrentCluster()?.server).toBe("https://a.example");
    expect(readKubeconfig({ paths: [path], context: "two" }).getCurrentCluster()?.server).toBe(
      "https://b.example",
    );
  });

  it.each([
    ["kind-kind", "kind-kind"],
    ["arn:aws:eks:eu-central-1:123456789012:cluster/prod", "prod"],
    ["admin@10.0.0.1:6443", "admin-10-0-0-1-6443"],
    ["///", "cluster"],
  ])("gives cluster %j the name %j", async (reported, name) => {
    await write(config(reported, "one"));
    expect(clusterNameIn(readKubeconfig({ paths: [path] }))).toBe(name);
  });

  it.each([
    [
      "no current context",
      config("a"),
      undefined,
      /no current context: name one with --context \(there are: one, two, lost\)/,
    ],
    [
      "a context that is not there",
      config("a", "one"),
      "three",
      /no context three \(there are: one, two, lost\)/,
    ],
    ["a context without a cluster", config("a", "one"), "lost", /context lost names no cluster/],
    ["something else in it", "no kubeconfig", undefined, /cannot be used: .*config/],
  ])("is refused with %s", async (_, content, context, expected) => {
    await write(content);
    expect(() => readKubeconfig({ paths: [path], context })).toThrow(expected);
  });

  it("is refused when it is not there", () => {
    expect(() => readKubeconfig({ paths: [path] })).toThrow(/cannot be used: .*config: ENOENT/);
  });
});
