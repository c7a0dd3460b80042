import { readFileSync } from "node:fs";
import { meaningOf } from "../../infra/settings/deployment.ts";
import type { SettingsTable } from "../../lambda/settings-table.ts";

/** The found text and the expected one; a document may explain a setting in more words than the table. */
type Compared = Readonly<{ found: readonly string[]; expected: readonly string[] }>;

/** The rows of a page's table of settings. */
export function settingsOnPage(page: string, table: SettingsTable): Compared {
  const [, body = ""] = /\n\| Setting .+\n\|[-| ]+\n((?:\|.*\n)+)/.exec(readFileSync(page, "utf8")) ?? [];
  const rows = body
    .trimEnd()
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1")
    .replaceAll(/ +/g, " ");
  const expected = Object.entries(table).map(([name, setting]) => {
    const fallback = setting.default === undefined ? setting.unset : `\`${setting.default}\``;
    return `| \`${name}\` | ${fallback} | ${meaningOf(setting)}`;
  });
  return compare(rows.split("\n"), expected);
}

/** The construct's props, their defaults and their comments. */
export function settingsOfConstruct(table: SettingsTable): Compared {
  const [, body = ""] = readFileSync("infra/props.ts", "utf8").split("interface KarpenterNodeHolderProps {");
  const props = [...body.matchAll(/\/\*\* (.+?)(?: Default: (.+)\.)? \*\/\n {2}readonly (\w+)\??:/g)];
  const expected = Object.entries(table).map(([name, setting]) => {
    const meaning = meaningOf(setting).replace(/^\w/, (letter) => letter.toUpperCase());
    return `${setting.prop ?? name} (${setting.default ?? setting.unset}): ${meaning}`;
  });
  // Only an app can know a cluster whose name is not known, and then has to name the holder.
  const ofSettings = props.filter(([, , , name]) => name !== "name");
  const found = ofSettings.map(
    ([, comment, fallback = "required", name]) => `${name} (${fallback}): ${comment}`,
  );
  return compare(found, expected);
}

const compare = (texts: readonly string[], expected: readonly string[]): Compared => ({
  found: texts.map((text) => expected.find((one) => text.startsWith(one)) ?? text),
  expected,
});
