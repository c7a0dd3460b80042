import { describe, expect, it } from "vitest";
import { isOfRules, scopeOf } from "../../lambda/core/rules.ts";
import {
  admits,
  nodePoolOf,
  parseScope,
  poolScope,
  type Scope,
  wholeCluster,
} from "../../lambda/core/scope.ts";
import { someRules } from "../support/builders.ts";

describe("a scope", () => {
  it("is the whole cluster or one NodePool", () => {
    expect(parseScope("cluster")).toBe("cluster");
    expect(parseScope("nodepool/batch")).toBe("nodepool/batch");
    expect(parseScope("nodepool/team-a.gpu")).toBe("nodepool/team-a.gpu");
  });

  it("is invalid where no NodePool can have that name", () => {
    const wrong = [
      "",
      "batch",
      "nodepool",
      "nodepool/",
      "Cluster",
      "nodepool/A",
      "nodepool/a,b=c",
      "nodepool/a b",
      "nodegroupbatch",
    ];
    const long = `nodepool/${"a".repeat(254)}`;

    expect([...wrong, long].filter((text) => parseScope(text))).toEqual([]);
  });

  it("reports its NodePool", () => {
    expect([nodePoolOf(wholeCluster), nodePoolOf(poolScope("batch"))]).toEqual([undefined, "batch"]);
  });

  it("is that of the whole cluster unless launches protect their own NodePool only", () => {
    expect(scopeOf(someRules(), "batch")).toBe("cluster");
    expect(scopeOf(someRules({ scope: "nodepool" }), "batch")).toBe("nodepool/batch");
  });

  it("of another setting is kept no more", () => {
    const scopes: Scope[] = [wholeCluster, poolScope("batch")];
    const kept = (scope: "cluster" | "nodepool") =>
      scopes.filter((one) => isOfRules(someRules({ scope }), one));

    expect([kept("cluster"), kept("nodepool")]).toEqual([["cluster"], ["nodepool/batch"]]);
  });
});

it.each([
  ["all names that a NodePool can have, where none is named", [], [], ["a", "b", "c"]],
  ["all others than those left out", [], ["b"], ["a", "c"]],
  ["only those named, and never those left out", ["a", "b"], ["b"], ["a"]],
])("the filter of NodePools admits %s", (_, only, except, admitted) => {
  expect(["a", "b", "c", "Bad_Pool"].filter((pool) => admits({ only, except }, pool))).toEqual(admitted);
});
