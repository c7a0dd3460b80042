import { expect, it } from "vitest";
import { settingsTable } from "../../lambda/settings-table.ts";
import { settingsOfConstruct, settingsOnPage } from "../support/documented-settings.ts";

it.each(["README.md", "docs/settings.md"])(
  "%s has every setting with its default and meaning, and no other",
  (page) => {
    const { found, expected } = settingsOnPage(page, settingsTable);
    expect(found).toEqual(expected);
  },
);

it("the construct has every setting as a prop with its meaning, and no other", () => {
  const { found, expected } = settingsOfConstruct(settingsTable);
  expect(found).toEqual(expected);
});
