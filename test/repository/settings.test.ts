import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { settingNames } from "../../infra/settings/context.ts";
import { defaultSettings } from "../../lambda/settings.ts";

/** The settings of a page's table, with the default that it names. */
function settingsIn(page: string): ReadonlyMap<string, string> {
  const [, table = ""] = /\n(\| Setting .+\n(?:\|.*\n)+)/.exec(readFileSync(page, "utf8")) ?? [];
  const rows = [...table.matchAll(/^\| `(\w+)` +\| ([^|]+?) +\|/gm)];
  return new Map(rows.map(([, name = "", fallback = ""]) => [name, fallback]));
}

it.each(["README.md", "docs/settings.md"])("%s has every setting, and no other", (page) => {
  expect([...settingsIn(page).keys()].toSorted()).toEqual([...settingNames].toSorted());
});

it.each(["README.md", "docs/settings.md"])("%s names the defaults as they are", (page) => {
  const settings = settingsIn(page);
  for (const [name, fallback] of Object.entries(defaultSettings)) {
    const expected = fallback === "" ? /^(none|all|by `karpenter`)$/ : new RegExp(`^\`${fallback}\`$`);
    expect(settings.get(name), name).toMatch(expected);
  }
});
