import { holderName, holdLabel } from "../../lambda/core/marks/keys.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { admittedFolds, refusedFolds } from "./policy-fold-cases.ts";
import { kubelet, kubeletOf, owned, refusedForgeries } from "./policy-forgery-cases.ts";
import {
  folded,
  forge,
  gitops,
  held,
  labelsOf,
  markFields,
  ours,
  owner,
  owns,
  tenOwners,
} from "./policy-owners.ts";
import {
  adopting,
  annotation,
  both,
  type Case,
  label,
  leaving,
  mark,
  marking,
  type Node,
  releasing,
  users,
} from "./policy-requests.ts";

const [h1, h2] = [holdId(1), holdId(2)];

const ourLabel = owner(holderName, "Update", labelsOf(holdLabel));
const creator = owner("kubelet", "Update", labelsOf(".", "pool"));
const theirs = (operation: "Apply" | "Update") =>
  owner("gitops", operation, owns({ annotations: [annotation] }));
/** The user took the annotation off a held node, and set it again. */
const setAgain = held(creator, ourLabel, theirs("Update"));
const labelled = held(creator, ours, owner("x", "Apply", labelsOf(holdLabel)));
const applied = held(creator, ours, theirs("Apply"));

/** Checks the whole policy's cost, too. */
const many = Array.from({ length: 30 }, (_, i) => Array.from({ length: 10 }, (_, j) => `l${i}-${j}`));
const manyOwned = {
  labels: Object.fromEntries(many.flat().map((key) => [key, "x"])),
  owners: many.map((keys, i) => owner(`m${i}`, "Apply", labelsOf(...keys))),
};

/** What the policy admits of marks on nodes whose fields have owners. */
export const admittedOwners: readonly Case[] = [
  ["a mark on a node whose labels have owners", owned, both(h1, "true")],
  ["a mark with owners sent back as they were", owned, marking(forge(gitops, kubelet))],
  ["a mark on a node with hundreds of owned labels", manyOwned, both(h1, "true")],
  ["a mark on a node without recorded owners", { owners: [] }, both(h1, "true")],
  ["releasing a mark of its own", held(creator, ours), both(null, null)],
  ["releasing a mark without recorded owners", held(), both(null, null)],
  ["releasing a mark whose owner is folded", held(creator, folded(markFields)), both(null, null)],
  [
    "releasing a mark whose owner was not recorded before the first apply",
    held(owner("before-first-apply", "Update", markFields), gitops),
    both(null, null),
  ],
  ["releasing a mark whose label another manager owns", labelled, both(null, null)],
  [
    "adopting a mark that others own",
    held(owner("x", "Update", owns({ labels: [".", holdLabel], annotations: [".", annotation] }))),
    label(h2),
  ],
  [
    "releasing a mark that made the map of annotations, which has another one now",
    {
      ...mark(h1),
      annotations: { [annotation]: "true", x: "y" },
      owners: [
        creator,
        owner(holderName, "Update", owns({ labels: [holdLabel], annotations: [".", annotation] })),
        owner("kubectl", "Update", owns({ annotations: ["x"] })),
      ],
    },
    both(null, null),
  ],
  [
    "releasing the last annotation in a map that another manager made",
    held(owner("kubelet", "Update", owns({ labels: [".", "pool"], annotations: [] })), ours),
    both(null, null),
  ],
  ["leaving the annotation that another manager set again", setAgain, label(null)],
  ["leaving the annotation that another manager applied, too", applied, label(null)],
  [
    "giving up the annotation that another manager applied, too",
    applied,
    leaving(forge(creator, theirs("Apply"))),
  ],
  ...admittedFolds,
];

const usersOwned: Node = { ...users("true"), owners: [theirs("Apply"), kubeletOf("pool")] };
/** Entries for subresources, which would count as those of others. */
const oursOfAnnotation = owner(holderName, "Update", owns({ annotations: [annotation] }));
const moreOfOurs = tenOwners.map((_, i) => ({ ...oursOfAnnotation, subresource: `s${i}` }));

/** What it refuses. */
export const refusedOwners: readonly Case[] = [
  ["a mark in another manager's name", {}, { ...both(h1, "true"), manager: "kubectl" }],
  ["taking the user's annotation from its owner", usersOwned, forge(kubeletOf("pool"))],
  [
    "owning the user's annotation, too",
    usersOwned,
    forge(theirs("Apply"), kubeletOf("pool"), oursOfAnnotation),
  ],
  ["taking off the annotation that another manager set again", setAgain, both(null, null)],
  ["taking off the annotation that another manager applied, too", applied, both(null, null)],
  ["taking off the annotation with its other owner", applied, releasing(forge(creator, ours))],
  ["taking its label from another owner", labelled, forge(creator, ours)],
  ["leaving an annotation of its own", held(creator, ours), label(null)],
  ["leaving an annotation of its own that it gives up", held(creator, ours), leaving(forge(creator))],
  ["leaving an annotation without recorded owners", held(), label(null)],
  ["leaving an annotation whose owner is folded", held(creator, folded(markFields)), label(null)],
  ["leaving an annotation, and taking it from its other owner", applied, leaving(forge(creator, ours))],
  [
    "adopting a mark, and taking its annotation from the other owner",
    applied,
    adopting(forge(creator, ours)),
  ],
  [
    "adopting a mark with an entry of its own for a subresource",
    held(creator, ours),
    adopting(forge(creator, ours, ...moreOfOurs.slice(0, 1))),
  ],
  [
    "taking all from an updating manager, as if folded beside ten entries of its own",
    held(creator, ours),
    adopting(forge(folded(labelsOf("pool")), ours, ...moreOfOurs)),
  ],
  ...refusedForgeries,
  ...refusedFolds,
];
