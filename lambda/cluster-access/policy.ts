import type { V1ValidatingAdmissionPolicySpec } from "@kubernetes/client-node";
import { holderName, holdLabel, markValue, neverHold } from "../core/marks/keys.ts";
import { asRecord } from "../kubernetes/node-objects.ts";

const text = (value: string) => `'${value}'`;
const maps = { oa: "oldObject.metadata.?annotations", na: "object.metadata.?annotations" } as const;
const labels = { ol: "oldObject.metadata.?labels", nl: "object.metadata.?labels" } as const;
const unchanged = (field: string, none: string) =>
  `object.metadata.?${field}.orValue(${none}) == oldObject.metadata.?${field}.orValue(${none})`;
/** Every key but ours has the value it had, and none has gone. */
const othersUnchanged = (now: string, before: string, isOurs: string) =>
  `${now}.all(k, ${isOurs} || (k in ${before} && ${before}[k] == ${now}[k])) && ${before}.all(k, ${isOurs} || k in ${now})`;
const isHold = (value: string) => `!(${value} in ['', ${text(neverHold)}])`;

const mark = "a mark is the label and the annotation together";
const owners = "the annotation on this node is its owner's";

/**
 * What the holder's group may change on a node: its mark under one of these annotations, and nothing else.
 * The cluster refuses the rest even if our code is wrong.
 */
export const policySpec = (annotations: readonly string[]): V1ValidatingAdmissionPolicySpec => ({
  failurePolicy: "Fail",
  matchConstraints: {
    resourceRules: [{ apiGroups: [""], apiVersions: ["*"], operations: ["UPDATE"], resources: ["nodes"] }],
  },
  matchConditions: [{ name: "ours", expression: `${text(holderName)} in request.userInfo.groups` }],
  variables: [
    { name: "keys", expression: `[${annotations.map(text).join(", ")}]` },
    { name: "lab", expression: text(holdLabel) },
    ...Object.entries({ ...maps, ...labels }).map(([name, map]) => ({
      name,
      expression: `${map}.orValue({})`,
    })),
    { name: "was", expression: "variables.lab in variables.ol ? variables.ol[variables.lab] : ''" },
    { name: "is", expression: "variables.lab in variables.nl ? variables.nl[variables.lab] : ''" },
    { name: "wasHeld", expression: isHold("variables.was") },
    { name: "isHeld", expression: isHold("variables.is") },
  ],
  validations: [
    {
      expression: [
        "object.spec == oldObject.spec",
        unchanged("finalizers", "[]"),
        unchanged("ownerReferences", "[]"),
      ].join(" && "),
      message: "the node holder may change nothing but its mark",
    },
    {
      expression: othersUnchanged("variables.na", "variables.oa", "k in variables.keys"),
      message: "the node holder may change only its hold annotation",
    },
    {
      expression: othersUnchanged("variables.nl", "variables.ol", "k == variables.lab"),
      message: "the node holder may change only its hold label",
    },
    {
      expression: `(variables.was == ${text(neverHold)}) == (variables.is == ${text(neverHold)})`,
      message: "this node is never held",
    },
    {
      // Taken away only as part of a mark, and never given another value.
      expression: `variables.keys.all(k, !(k in variables.oa) || (k in variables.na ? variables.na[k] == variables.oa[k] : variables.wasHeld && variables.oa[k] == ${text(markValue)}))`,
      message: owners,
    },
    {
      expression: `variables.keys.all(k, !(k in variables.na) || k in variables.oa || (variables.isHeld && variables.na[k] == ${text(markValue)}))`,
      message: mark,
    },
    {
      // Beside an annotation that was there without a label, a label would make the owner's annotation ours.
      expression: `!variables.isHeld || variables.keys.exists(k, k in variables.na && variables.na[k] == ${text(markValue)} && (variables.wasHeld || !(k in variables.oa)))`,
      message: mark,
    },
    {
      // The label may go alone where nothing of the mark stays: a value that is not ours is the user's by now.
      expression: `variables.isHeld || !variables.wasHeld || variables.keys.exists(k, k in variables.oa && !(k in variables.na)) || variables.keys.all(k, !(k in variables.na) || variables.na[k] != ${text(markValue)})`,
      message: mark,
    },
    {
      expression: "variables.isHeld || !(variables.lab in variables.nl) || variables.lab in variables.ol",
      message: mark,
    },
  ],
});

/** The annotations that a policy takes which was read from a cluster; none where it is not as we write it. */
export function annotationsIn(policy: unknown): readonly string[] {
  const { variables } = asRecord(asRecord(policy, "our policy").spec, "our policy's spec");
  const all: readonly unknown[] = Array.isArray(variables) ? variables : [];
  const { expression } = Object(all.find((one) => Object(one).name === "keys"));
  if (typeof expression !== "string") return [];
  return [...expression.matchAll(/'([^']+)'/g)].map(([, key = ""]) => key);
}
