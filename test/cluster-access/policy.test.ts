import { isDeepStrictEqual } from "node:util";
import { Environment, type Optional } from "@marcbachmann/cel-js";
import { describe, expect, it } from "vitest";
import { policySpec, type Subject } from "../../lambda/cluster-access/policy.ts";
import { holderName, Karpenter } from "../../lambda/core/marks/keys.ts";
import { admitted, refused } from "./policy-cases.ts";
import { forms } from "./policy-requests.ts";
import { type Form, type Update, updateBy } from "./policy-updates.ts";

const { annotation } = Karpenter.v1;
const holder: Subject = { kind: "Group", name: holderName };
const cel = new Environment({ unlistedVariablesAreDyn: true, enableOptionalTypes: true });
// Of CEL, but not of this library.
cel.registerOperator("optional<dyn> == optional<dyn>", (a: Optional, b: Optional) =>
  isDeepStrictEqual(a.orValue(undefined), b.orValue(undefined)),
);

/** A judge of updates by the policy; the real API server judges the same cases in suite `access`. */
function judgeBy(subject = holder) {
  const { variables = [], matchConditions = [], validations = [] } = policySpec(annotation, subject);
  const parsed = <T extends { expression: string }>(all: readonly T[]) =>
    all.map((one) => ({ ...one, is: cel.parse(one.expression) }));
  const [valuesOf, conditions, rules] = [parsed(variables), parsed(matchConditions), parsed(validations)];
  return (update: Update): string => {
    const values: Record<string, unknown> = {};
    const context = { ...update, variables: values };
    if (!conditions.every(({ is }) => is(context))) return "not the holder's";
    for (const { name, is } of valuesOf) values[name] = is(context);
    return rules.find(({ is }) => is(context) !== true)?.message ?? "admitted";
  };
}

const { "server-side apply": _, ...faked } = forms;
const judge = judgeBy();
const aRefusal = /^(this|the|a mark) /;

describe.each(Object.entries(faked))("the admission policy, by %s,", (_, form) => {
  it.each(admitted)("admits %s", (...one) => expect(judge(updateBy(one, form))).toBe("admitted"));
  it.each(refused)("refuses %s", (...one) => expect(judge(updateBy(one, form))).toMatch(aRefusal));
});

it("restricts the holder alone: the members of its group, or one service account", () => {
  const [cordon] = refused.map((one) => updateBy(one, forms["merge patch"] as Form));
  const others = { userInfo: { groups: ["system:authenticated"], username: "somebody" } };
  expect(judge({ ...Object(cordon), request: others })).toBe("not the holder's");

  const ofAccount = judgeBy({ kind: "ServiceAccount", name: "it's", namespace: "holder" });
  expect(ofAccount(Object(cordon))).toBe("not the holder's");
  const username = "system:serviceaccount:holder:it's";
  expect(ofAccount({ ...Object(cordon), request: { userInfo: { groups: [], username } } })).toMatch(aRefusal);
});
