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

/** Reads a field selector, `a=b` and `a!=b` joined by commas, of the fields that the server supports for a kind. */
export function parseFieldSelector(text: string, ...fields: readonly string[]): Requirement {
  const parts = text.trim() === "" ? [] : text.split(",");
  const requirements = parts.map((part): Requirement => {
    const [, field = "", sign, wanted] = /^([^=!]+)(==?|!=)(.*)$/.exec(part.trim()) ?? [];
    if (!fields.includes(field)) throw badRequest(`field label not supported: ${field}`);
    return (values) => (values[field] === wanted) === (sign !== "!=");
  });
  return (values) => requirements.every((holds) => holds(values));
}
