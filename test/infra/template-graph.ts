/** What the resources of a template refer to, and wait for. */

export type Value = unknown;
type Resource = Readonly<{ Type: string; Properties?: Readonly<Record<string, Value>>; DependsOn?: Value }>;
export type Resources = Readonly<Record<string, Resource>>;

/** Every resource that one depends on, also through others. */
export function dependenciesOf(resources: Resources, start: string): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [start];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const { Properties, DependsOn = [] } = resources[id] ?? { Type: "" };
    for (const next of [...referencesIn(Properties), ...[DependsOn].flat().map(String)])
      if (next in resources && !found.has(next)) {
        found.add(next);
        waiting.push(next);
      }
  }
  return found;
}

export const idsOf = (
  resources: Resources,
  fits: (type: string, properties: Readonly<Record<string, Value>>) => boolean,
): readonly string[] =>
  Object.entries(resources).flatMap(([id, { Type, Properties = {} }]) =>
    fits(Type, Properties) ? [id] : [],
  );

/** The logical ids that a value refers to by Ref, Fn::GetAtt or Fn::Sub. */
export function referencesIn(value: Value): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === "Ref") return [String(inner)];
    if (key === "Fn::GetAtt") return [String([inner].flat()[0]).split(".")[0] ?? ""];
    if (key === "Fn::Sub")
      return [...String([inner].flat()[0]).matchAll(/\$\{(\w+)/g)].map(([, id = ""]) => id);
    return referencesIn(inner);
  });
}

export const shares = (a: Value, b: Value): boolean =>
  referencesIn(a).some((id) => referencesIn(b).includes(id));
