/** A rule that was broken. */
export class Broken extends Error {}

export function must(isTrue: boolean, rule: string, facts: () => unknown = () => ""): asserts isTrue {
  if (!isTrue) throw new Broken(`${rule} ${JSON.stringify(facts())}`);
}
