import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { messageOf } from "../../lambda/core/errors.ts";
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
    ["prod.eu-central-1.eksctl.io", "prod"],
    ["admin@10.0.0.1:6443", "admin-10-0-0-1-6443"],
    ["///", "cluster"],
    ["_-a  b-_", "a-b-_"],
  ])("gives cluster %j the name %j", async (reported, name) => {
    await write(config(reported, "one"));
    expect(clusterNameIn(readKubeconfig({ paths: [path] }))).toBe(name);
  });

  it("names an EKS cluster by how it logs in, whatever the kubeconfig calls it", async () => {
    const args = ["eks", "get-token", "--cluster-name", "prod"];
    const users = [{ name: "me", user: { exec: { command: "aws", args } } }];
    await write({ ...config("alias", "one"), users });
    expect(clusterNameIn(readKubeconfig({ paths: [path] }))).toBe("prod");
  });

  const unusable = "This kubeconfig cannot be used: PATH";
  const there = "(there are: one, two, lost)";
  const current = "has no current context: name one with --context (there are";
  it.each([
    ["no current context", JSON.stringify(config("a")), `${unusable} ${current}: one, two, lost)`],
    ["no context at all", "{}", `${unusable} ${current}: none)`],
    [
      "a context that is not there",
      JSON.stringify(config("a", "three")),
      `${unusable} has no context three ${there}`,
    ],
    [
      "a context without a cluster",
      JSON.stringify(config("a", "lost")),
      "The kubeconfig PATH cannot be used: context lost names no cluster with a server",
    ],
    ["a text alone", '"no kubeconfig"', `${unusable} ${current}: none)`],
    ["no YAML in its second line", "a: 1\nb: [", `${unusable}, line 2: it is not YAML as kubectl writes it`],
    [
      "a number for its clusters",
      "clusters: [null]",
      `${unusable}: its lists or their names are not as kubectl has them`,
    ],
    [
      "a cluster without a name",
      "clusters: [{cluster: {server: x}}]",
      `${unusable}: clusters[0].name is missing`,
    ],
  ])("is refused with %s", async (_, content, expected) => {
    await writeFile(path, content);
    const read = async () => readKubeconfig({ paths: [path] });
    expect((await read().then(String, messageOf)).replace(path, "PATH")).toBe(expected);
  });

  it("is refused when it is not there", () => {
    expect(() => readKubeconfig({ paths: [path] })).toThrow(
      /cannot be used: .*config: no such file or directory$/,
    );
  });
});
