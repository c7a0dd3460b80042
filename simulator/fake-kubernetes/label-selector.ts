import { badRequest } from "./objects.ts";

type Labels = Readonly<Record<string, string>>;
type Requirement = (labels: Labels) => boolean;

const key = "[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?";
const forms: readonly [RegExp, (name: string, values: readonly string[]) => Requirement][] = [
  [new RegExp(`^(${key})$`), (name) => (labels) => name in labels],
  [new RegExp(`^!\\s*(${key})$`), (name) => (labels) => !(name in labels)],
  [
    new RegExp(`^(${key})\\s*==?\\s*([^=!(),\\s]*)$`),
    (name, [value]) =>
      (labels) =>
        labels[name] === value,
  ],
  [
    new RegExp(`^(${key})\\s*!=\\s*([^=!(),\\s]*)$`),
    (name, [value]) =>
      (labels) =>
        labels[name] !== value,
  ],
  [
    new RegExp(`^(${key})\\s+in\\s*\\(([^()]*)\\)$`),
    (name, values) => (labels) => values.includes(labels[name] ?? "\n"),
  ],
  [
    new RegExp(`^(${key})\\s+notin\\s*\\(([^()]*)\\)$`),
    (name, values) => (labels) => !values.includes(labels[name] ?? "\n"),
  ],
];

/** Reads a label selector: `a`, `!a`, `a=b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, joined by commas. */
export function parseLabelSelector(text: string): Requirement {
  // A comma between parentheses parts values, not requirements.
  const requirements =
    text.trim() === "" ? [] : text.split(/,(?![^(]*\))/).map((part) => parseOne(part.trim()));
  return (labels) => requirements.every((holds) => holds(labels));
}

function parseOne(part: string): Requirement {
  for (const [form, requirement] of forms) {
    const [, name, values = ""] = form.exec(part) ?? [];
    if (name !== undefined)
      return requirement(
        name,
        values.split(",").map((value) => value.trim()),
      );
  }
  throw badRequest(`unable to parse requirement: ${part}`);
}

/** Reads a field selector; nodes are selected by name alone. */
export function parseFieldSelector(text: string): (name: string) => boolean {
  if (text.trim() === "") return () => true;
  const [, wanted] = /^metadata\.name==?(.+)$/.exec(text.trim()) ?? [];
  if (wanted === undefined) throw badRequest(`field label not supported: ${text}`);
  return (name) => name === wanted;
}
