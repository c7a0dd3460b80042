import { holderName, holdLabel, namesOfServer } from "../core/marks/keys.ts";
import { text, texts } from "./cel.ts";

/**
 * Who owns a field decides what its manager's next server-side apply removes, and a request may write managedFields. So
 * the owners may change in no other way than the API server itself changes them when a mark changes.
 */

const identity = ["manager", "operation", "apiVersion", "subresource"];
/** Whether the entries `a` and `b` of managedFields are of the same manager. */
const isSame = identity.map((field) => `a.?${field} == b.?${field}`).join(" && ");
const isIn = (entries: string) => `variables.${entries}.exists(b, ${isSame})`;

const nameOf = (entry: string) => `${entry}.?manager.orValue('')`;
const isUpdate = "a.?operation.orValue('') == 'Update'";
/** The manager's entry for the node itself: a request cannot make more than one by naming subresources. */
const isEntryOf = (manager: string) =>
  `(${nameOf("a")} == ${text(manager)} && a.?apiVersion.orValue('') == 'v1' && a.?subresource.orValue('') == '')`;
const isOurs = isEntryOf(holderName);
const [foldName] = namesOfServer;
const isFold = `(${isUpdate} && ${isEntryOf(foldName)})`;

/**
 * Whether entry `a` has no field that is not in the fields `b` too, apart from fields of the mark that changes and where
 * `mayDiffer` is true. Below labels and annotations `{}` is the map itself, which is "." beside keys.
 */
const isWithin = (b: string, mayDiffer: string) => {
  const map = "a.fieldsV1[k][m]";
  const differs = (field: string) => `(${field} in variables.changedFields[m] && ${mayDiffer})`;
  const hasMap = `(${b}[?k][?m][?'.'].hasValue() || ${b}[?k][?m] == optional.of(dyn({})) || ${differs("'.'")})`;
  const hasKey = `(${b}[?k][?m][?f] == optional.of(${map}[f]) || ${differs("f")})`;
  const inMap = `(!(size(${map}) == 0 || '.' in ${map}) || ${hasMap}) && ${map}.all(f, f == '.' || ${hasKey})`;
  const inMetadata = `a.fieldsV1[k].all(m, ${b}[?k][?m] == optional.of(${map}) || (m in variables.changedFields && ${inMap}))`;
  return `a.fieldsV1.all(k, ${b}[?k] == optional.of(a.fieldsV1[k]) || (k == 'f:metadata' && size(a.fieldsV1[k]) > 0 && ${inMetadata}))`;
};
/** The fields of the same manager's entry, and none, for a manager that had no entry or has none any more. */
const ownIn = (entries: string) =>
  `(variables.${entries}.filter(b, ${isSame}).map(b, b.fieldsV1) + [dyn({})])`;

/** Fields of a map that the API server takes from their owners, and gives to who changes them. */
const changedIn = (keys: string, before: string, after: string) =>
  `${keys} + ((size(${before}) == 0) != (size(${after}) == 0) ? ['.'] : [])`;

export const ownerVariables = {
  oldOwners: "dyn(oldObject).metadata.?managedFields.orValue([])",
  newOwners: "dyn(object).metadata.?managedFields.orValue([])",
  /** Another manager has set the annotation, or applies it too. */
  isOwnedByOthers: `variables.oldOwners.exists(a, !(${nameOf("a")} in ${texts([holderName, ...namesOfServer])}) && a.?fieldsV1[?'f:metadata'][?'f:annotations'][?('f:' + variables.annotation)].hasValue())`,
  changedFields: `{'f:labels': ${changedIn(`(variables.sameLabel ? [] : [${text(`f:${holdLabel}`)}])`, "variables.oldLabels", "variables.newLabels")}, 'f:annotations': ${changedIn("(variables.hadAnnotation == variables.hasAnnotation ? [] : ['f:' + variables.annotation])", "variables.oldAnnotations", "variables.newAnnotations")}}`,
  oldUpdates: `variables.oldOwners.filter(a, ${isUpdate})`,
  /** The API server keeps ten updates. Where ours is one more, it folds the two oldest into one. */
  folds: `variables.isHeld && variables.changesMark && size(variables.oldUpdates) >= 10 && !variables.oldUpdates.exists(a, ${isOurs}) && variables.newOwners.exists(a, ${isFold}) && size(variables.oldUpdates.filter(a, !${isIn("newOwners")})) <= 2`,
};

const message = "the node holder may own only its mark, and take nothing else from an owner";

export const ownerValidations = [
  {
    // What a manager owns and no longer applies, its next server-side apply removes.
    expression: `variables.newOwners.all(a, (variables.folds && ${isFold}) || ${ownIn("oldOwners")}.exists(b, ${isWithin("b", isOurs)}))`,
    message,
  },
  {
    // A change of a field takes it from its other owners. What the holder owns, it may give up.
    expression: `variables.oldOwners.all(a, ${nameOf("a")} == ${text(holderName)} || (variables.folds && ${isUpdate} && (${isFold} || !${isIn("newOwners")})) || ${ownIn("newOwners")}.exists(b, ${isWithin("b", "true")}))`,
    message,
  },
];
