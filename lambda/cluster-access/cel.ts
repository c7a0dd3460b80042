/** A string literal of CEL. */
export const text = (value: string): string => `'${value.replaceAll(/[\\']/g, "\\$&")}'`;

/** A list of string literals. */
export const texts = (values: readonly string[]): string => `[${values.map(text).join(", ")}]`;
