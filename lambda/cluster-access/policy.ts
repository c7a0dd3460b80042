import type { V1ValidatingAdmissionPolicySpec } from "@kubernetes/client-node";
import { holdIdPattern } from "../core/marks/hold-id.ts";
import { holderName, holdLabel, markValue } from "../core/marks/keys.ts";
import { text } from "./cel.ts";
import { ownerValidations, ownerVariables } from "./policy-owners.ts";

/** The subject of the holder's rights in a cluster: a group, or one service account. */
export type Subject =
  | Readonly<{ kind: "Group"; name: string }>
  | Readonly<{ kind: "ServiceAccount"; name: string; namespace: string }>;

/** The functions log in as its members; users of `run` can be put into it. */
export const holderGroup: Subject = { kind: "Group", name: holderName };

/** Whether a request is the holder's. */
const requestedBy = (subject: Subject): string =>
  subject.kind === "Group"
    ? `${text(subject.name)} in request.userInfo.groups`
    : `request.userInfo.username == ${text(`system:serviceaccount:${subject.namespace}:${subject.name}`)}`;

const unchanged = (field: string, none: string) =>
  `object.metadata.?${field}.orValue(${none}) == oldObject.metadata.?${field}.orValue(${none})`;
/** Every key but ours has the value it had, and none is added or removed. */
const othersUnchanged = (now: string, before: string, isOurs: string) =>
  `${now}.all(k, ${isOurs} || (k in ${before} && ${before}[k] == ${now}[k])) && ${before}.all(k, ${isOurs} || k in ${now})`;
/** Our label in a map of labels, as an optional value. */
const labelIn = (labels: string) => `variables.${labels}[?variables.label]`;
const isHeld = (labels: string) => `${labelIn(labels)}.orValue('').matches(${text(holdIdPattern)})`;

const annotationIn = (annotations: string) => `variables.${annotations}[?variables.annotation]`;
const isTrue = (annotations: string) => `${annotationIn(annotations)}.orValue('') == ${text(markValue)}`;

const variables = (annotation: string) => ({
  annotation: text(annotation),
  label: text(holdLabel),
  oldAnnotations: "oldObject.metadata.?annotations.orValue({})",
  newAnnotations: "object.metadata.?annotations.orValue({})",
  oldLabels: "oldObject.metadata.?labels.orValue({})",
  newLabels: "object.metadata.?labels.orValue({})",
  wasHeld: isHeld("oldLabels"),
  isHeld: isHeld("newLabels"),
  hadAnnotation: "variables.annotation in variables.oldAnnotations",
  hasAnnotation: "variables.annotation in variables.newAnnotations",
  sameAnnotation: `${annotationIn("newAnnotations")} == ${annotationIn("oldAnnotations")}`,
  sameLabel: `${labelIn("newLabels")} == ${labelIn("oldLabels")}`,
  changesMark: "!variables.sameLabel || !variables.sameAnnotation",
  ...ownerVariables,
});

const mark = "a mark is the label and the annotation together";

const validations = [
  {
    expression: [
      "object.spec == oldObject.spec",
      unchanged("finalizers", "[]"),
      unchanged("ownerReferences", "[]"),
      unchanged("generateName", "''"),
    ].join(" && "),
    message: "the node holder may change nothing but its mark",
  },
  {
    expression: othersUnchanged(
      "variables.newAnnotations",
      "variables.oldAnnotations",
      "k == variables.annotation",
    ),
    message: "the node holder may change only its hold annotation",
  },
  {
    expression: othersUnchanged("variables.newLabels", "variables.oldLabels", "k == variables.label"),
    message: "the node holder may change only its hold label",
  },
  {
    expression:
      "variables.wasHeld || !(variables.label in variables.oldLabels) || (variables.sameLabel && variables.sameAnnotation)",
    message: `this node is excluded: its label ${holdLabel} is its user's`,
  },
  {
    expression: "variables.isHeld || !(variables.label in variables.newLabels) || variables.sameLabel",
    message: `the node holder may set its label ${holdLabel} to the id of a hold only`,
  },
  {
    // Removed only as part of a mark, and never given another value.
    expression: `!variables.hadAnnotation || variables.sameAnnotation || (!variables.hasAnnotation && variables.wasHeld && ${isTrue("oldAnnotations")} && !variables.isOwnedByOthers)`,
    message: "the annotation on this node is its user's",
  },
  {
    expression: `!variables.hasAnnotation || variables.hadAnnotation || (variables.isHeld && ${isTrue("newAnnotations")})`,
    message: mark,
  },
  {
    // Beside an annotation that was there without a label, a label would make the user's annotation ours.
    expression: `!variables.isHeld || (${isTrue("newAnnotations")} && (variables.wasHeld || !variables.hadAnnotation))`,
    message: mark,
  },
  {
    // The label may be removed alone where the annotation that stays is its user's: by its value, or by its owner.
    expression: `variables.isHeld || !variables.wasHeld || !(${isTrue("newAnnotations")}) || variables.isOwnedByOthers`,
    message: mark,
  },
  ...ownerValidations,
];

/**
 * What the holder may change on a node: its mark by this annotation, and nothing else. The cluster refuses the rest even
 * if our code is wrong.
 */
export const policySpec = (annotation: string, subject: Subject): V1ValidatingAdmissionPolicySpec => ({
  failurePolicy: "Fail",
  // With the server's defaults, so that what is stored can be compared as a whole.
  matchConstraints: {
    matchPolicy: "Equivalent",
    namespaceSelector: {},
    objectSelector: {},
    resourceRules: [
      { apiGroups: [""], apiVersions: ["*"], operations: ["UPDATE"], resources: ["nodes"], scope: "*" },
    ],
  },
  matchConditions: [{ name: "ours", expression: requestedBy(subject) }],
  variables: Object.entries(variables(annotation)).map(([name, expression]) => ({ name, expression })),
  validations,
});
