type Attributes = Readonly<Record<string, string | number | undefined>>;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
// Not allowed in XML, not even as entities.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** Text escaped for an element or an attribute: names come from clusters, where anybody may choose them. */
export const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replace(controls, "\ufffd")
    .replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);

/** An element, for SVG or HTML; children are markup already. */
export function element(name: string, attributes: Attributes = {}, ...children: readonly string[]): string {
  const written = Object.entries(attributes).map(([key, value]) =>
    value === undefined ? "" : ` ${key}="${escaped(typeof value === "number" ? short(value) : value)}"`,
  );
  const open = `<${name}${written.join("")}`;
  return children.length === 0 ? `${open}/>` : `${open}>${children.join("")}</${name}>`;
}

/** A number with two digits after the point at most: more cannot be seen, and makes files large. */
export const short = (value: number): string => String(Math.round(value * 100) / 100);

/** The tooltip of an element. */
export const hint = (text: string): string => element("title", {}, escaped(text));
