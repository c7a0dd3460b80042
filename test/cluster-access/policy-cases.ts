import { holdLabel } from "../../lambda/core/marks/keys.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { usersLabels } from "../contracts/nodes-world.ts";
import { admittedOwners, refusedOwners } from "./policy-owner-cases.ts";
import { annotate, annotation, both, type Case, label, mark, type Node, users } from "./policy-requests.ts";

const [h1, h2] = [holdId(1), holdId(2)];
const never = { labels: { [holdLabel]: "never" } };

/** What the policy admits of the holder's changes. */
export const admitted: readonly Case[] = [
  ["a mark on a bare node", {}, both(h1, "true")],
  ["a mark on a node with other annotations", { annotations: { "example.com/x": "y" } }, both(h1, "true")],
  ["adopting an older hold's mark", mark(h1), label(h2)],
  ["completing a half mark while adopting it", label(h1) as Node, both(h2, "true")],
  ["releasing a mark", mark(h1), both(null, null)],
  ["releasing a half mark", label(h1) as Node, label(null)],
  ["handing an annotation with the user's value over", mark(h1, "8h"), label(null)],
  ...admittedOwners,
];

/** What it refuses. */
export const refused: readonly Case[] = [
  ["cordoning", {}, { spec: { unschedulable: true } }],
  ["cordoning beside a mark", {}, { ...both(h1, "true"), spec: { unschedulable: true } }],
  ["a taint", {}, { spec: { taints: [{ key: "x", effect: "NoSchedule" }] } }],
  ["a finalizer", {}, { metadata: { finalizers: ["example.com/x"] } }],
  ["a finalizer beside a mark", {}, { ...both(h1, "true"), metadata: { finalizers: ["example.com/x"] } }],
  ["another label", {}, { labels: { x: "y" } }],
  ["another label beside a mark", {}, { labels: { x: "y", [holdLabel]: h1 }, ...annotate("true") }],
  ["taking another label off", { labels: { x: "y" } }, { labels: { x: null } }],
  ["changing another label", { labels: { x: "y" } }, { labels: { x: "z" } }],
  ["another annotation", {}, { annotations: { x: "y" } }],
  ["another annotation beside a mark", {}, { annotations: { x: "y", [annotation]: "true" }, ...label(h1) }],
  ["taking another annotation off", { annotations: { x: "y" } }, { annotations: { x: null } }],
  ["the annotation without the label", {}, annotate("true")],
  ["the label without the annotation", {}, label(h1)],
  ["a label without a value", {}, label("")],
  ["the annotation with another value", {}, both(h1, "false")],
  ["the label taken off while the mark's annotation stays", mark(h1), label(null)],
  ["the annotation taken off while the label stays", mark(h1), annotate(null)],
  ["the mark's annotation set to another value", mark(h1), annotate("false")],
  ["adopting a half mark without completing it", label(h1) as Node, label(h2)],
  ["adopting an annotation with the user's value", mark(h1, "8h"), label(h2)],
  ["turning the user's value into a mark", mark(h1, "8h"), both(h2, "true")],
  ["taking a user's value off with the label", mark(h1, "8h"), both(null, null)],
  ["taking the user's annotation off", users("true"), annotate(null)],
  ["changing the user's annotation", users("true"), annotate("false")],
  ["a label beside the user's annotation", users("true"), label(h1)],
  ["a label beside the user's other value", users("false"), label(h1)],
  ["a mark over the user's value", users("false"), both(h1, "true")],
  ["another value on a node that is never held", { ...never, ...users("4h") }, annotate("true")],
  ["setting never", {}, label("never")],
  ["setting never with an annotation", {}, both("never", "true")],
  ["turning a mark into never", mark(h1), label("never")],
  ["setting another label than a hold's id", {}, both("team-2", "true")],
  ["another value for generateName", {}, { metadata: { generateName: "x" } }],
  ...refusedOwners,
  ...usersLabels.flatMap((users): Case[] => [
    [`a mark on a node labelled "${users}"`, label(users) as Node, both(h1, "true")],
    [`an annotation on a node labelled "${users}"`, label(users) as Node, annotate("true")],
    [`taking the label "${users}" off`, label(users) as Node, label(null)],
    [`adopting the annotation beside "${users}"`, mark(users), label(h1)],
    [`taking "${users}" and the annotation off`, mark(users), both(null, null)],
    [`taking the annotation beside "${users}" off`, mark(users), annotate(null)],
  ]),
];
