/** The elements of a piece of markup with their attributes; fails where it is not well formed. */
export function elementsIn(
  markup: string,
): readonly Readonly<{ name: string; is: Record<string, string> }>[] {
  const open: string[] = [];
  const found: { name: string; is: Record<string, string> }[] = [];
  for (const [tag, close, name = "", rest = "", self] of markup.matchAll(
    /<(\/?)([a-zA-Z]\w*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/g,
  )) {
    if (close) {
      if (open.pop() !== name) throw new Error(`${tag} closes what is not open`);
      continue;
    }
    const attributes = [...rest.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [
      key,
      value,
    ]);
    found.push({ name, is: Object.fromEntries(attributes) });
    if (!self) open.push(name);
  }
  if (open.length > 0) throw new Error(`never closed: ${open.join(", ")}`);
  const left = markup.replace(/<\/?[a-zA-Z]\w*(?:\s+[\w:-]+="[^"<]*")*\s*\/?>/g, "");
  if (left.includes("<")) throw new Error(`not markup: ${left.slice(left.indexOf("<"), 60)}`);
  return found;
}
