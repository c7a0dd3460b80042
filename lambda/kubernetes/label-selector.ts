/** One condition on a label, in the words of a selector's `matchExpressions`; `NotIn` holds also where the key is absent. */
type Requirement =
  | Readonly<{ key: string; operator: "Exists" }>
  | Readonly<{ key: string; operator: "DoesNotExist" }>
  | Readonly<{ key: string; operator: "In"; values: readonly string[] }>
  | Readonly<{ key: string; operator: "NotIn"; values: readonly string[] }>;

/** All of the conditions hold. */
export type LabelSelector = readonly Requirement[];

/** The selector as a list request carries it. */
export const selectorText = (selector: LabelSelector): string => selector.map(textOf).join(",");

/** Whether a node with these labels would be listed. */
export const matches = (selector: LabelSelector, labels: Readonly<Record<string, string>> = {}): boolean =>
  selector.every((requirement) => {
    const value = labels[requirement.key];
    if (requirement.operator === "Exists") return value !== undefined;
    if (requirement.operator === "DoesNotExist") return value === undefined;
    const isIn = value !== undefined && requirement.values.includes(value);
    return requirement.operator === "In" ? isIn : !isIn;
  });

function textOf(requirement: Requirement): string {
  const { key, operator } = requirement;
  if (operator === "Exists") return key;
  if (operator === "DoesNotExist") return `!${key}`;
  return `${key} ${operator.toLowerCase()} (${requirement.values.join(",")})`;
}
