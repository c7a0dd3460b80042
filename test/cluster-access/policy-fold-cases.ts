import { holdId } from "../../simulator/hold-ids.ts";
import { allLabels, folded, forge, gitops, held, labelsOf, ours, owner, tenOwners } from "./policy-owners.ts";
import { adopting, both, type Case, label, marking, type Owner, releasing } from "./policy-requests.ts";

const [h1, h2] = [holdId(1), holdId(2)];
const foldsOf = (count: number, owners: readonly Owner[] = tenOwners) =>
  forge(...owners.slice(count), folded(labelsOf("l0", "l1")));

const statusOf = (field: string) => ({ "f:status": { [`f:${field}`]: {} } });
const foldedBefore = [folded(statusOf("a")), owner("m1", "Update", statusOf("b")), ...tenOwners.slice(2)];

const nineAndOurs = [...tenOwners.slice(1), ours];
const withTen = { owners: tenOwners };

/** What the policy admits where there are as many owners as the API server keeps; it folds the oldest of more. */
export const admittedFolds: readonly Case[] = [
  ["a mark on a node with as many owners as there may be", withTen, both(h1, "true")],
  ["adopting a mark there", held(...tenOwners), label(h2)],
  ["releasing a mark there", held(...tenOwners), both(null, null)],
  ["a mark with which another owner is folded", { owners: foldedBefore }, both(h1, "true")],
  ["a mark with which two old owners are folded", withTen, marking(foldsOf(2))],
];

const applied = { ...folded(allLabels), operation: "Apply" };
// What seems newer than the holder is not folded before it.
const newer = [...tenOwners.slice(2), folded(allLabels)].map((one) => ({
  ...one,
  time: "2099-01-01T00:00:00Z",
}));
const ofTwoLabels = [...tenOwners.slice(0, 9), owner("m9", "Update", labelsOf("l9", "l10"))];
const nine = tenOwners.slice(1);

/** What it refuses there. */
export const refusedFolds: readonly Case[] = [
  ["dropping two old owners that it does not fold", withTen, marking(forge(...tenOwners.slice(2)))],
  [
    "folding two old owners into a manager that applies",
    withTen,
    marking(forge(...tenOwners.slice(2), applied)),
  ],
  [
    "folding two old owners and itself into two new ones",
    withTen,
    marking(forge({ ...folded(allLabels), subresource: "status" }, ...newer)),
  ],
  [
    "folding two old owners, and taking a label from another one",
    { owners: ofTwoLabels },
    marking(foldsOf(2)),
  ],
  ["folding three old owners", withTen, marking(foldsOf(3))],
  ["folding owners of a node with nine", { owners: nine }, marking(foldsOf(2, nine))],
  ["folding an owner without a mark", withTen, foldsOf(1)],
  ["folding an owner with a release", held(...tenOwners), releasing(foldsOf(1))],
  ["folding owners where it is one of ten", held(...nineAndOurs), adopting(foldsOf(2, nineAndOurs))],
  [
    "folding a manager that applies",
    { labels: { team: "a" }, owners: [gitops, ...tenOwners] },
    marking(foldsOf(2)),
  ],
];
