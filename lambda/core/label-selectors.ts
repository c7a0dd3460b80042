/** One condition on a label, as in a selector's `matchExpressions`; `NotIn` holds also where the key is absent. */
export type Requirement = Readonly<{ key: string; operator: string; values?: readonly string[] }>;

/** All of the conditions hold. */
export type LabelSelector = readonly Requirement[];

/** Labels that must have these values, as a selector. */
export const withLabels = (labels: Readonly<Record<string, string>>): LabelSelector =>
  Object.entries(labels).map(([key, value]) => ({ key, operator: "In", values: [value] }));

/** Whether an object with these labels would be listed. */
export const matches = (selector: LabelSelector, labels: Readonly<Record<string, string>> = {}): boolean =>
  selector.every(({ key, operator, values = [] }) => {
    const value = labels[key];
    if (operator === "Exists") return value !== undefined;
    if (operator === "DoesNotExist") return value === undefined;
    const isIn = value !== undefined && values.includes(value);
    return operator === "In" ? isIn : !isIn;
  });
