import type { Template } from "../../cli/template/fill-in.ts";

/** Resources by type and order instead of id; without the code's place, and names made of ids. */
export function comparable(template: Template): unknown {
  const ids = Object.entries(template.Resources).map(([id, { Type }], i) => [id, `${Type} ${i}`] as const);
  const longestFirst = ids.toSorted(([a], [b]) => b.length - a.length);
  const text = longestFirst.reduce((all, [id, name]) => all.replaceAll(id, name), JSON.stringify(template));
  return JSON.parse(text, (key, value) => {
    if (key === "Code" || key === "PolicyName") return key;
    return key === "DependsOn" && Array.isArray(value) ? value.toSorted() : value;
  });
}
