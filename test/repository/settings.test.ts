import { expect, it } from "vitest";
import { settingsTable } from "../../infra/settings/deployment.ts";
import { settingsOfConstruct, settingsOnPage } from "../support/documented-settings.ts";

it("the page has every setting with its default and meaning, and no other", () => {
  const { found, expected } = settingsOnPage("docs/settings.md", settingsTable);
  expect(found).toEqual(expected);
});

it("the construct has every setting as a prop with its meaning, and no other", () => {
  const { found, expected } = settingsOfConstruct(settingsTable);
  expect(found).toEqual(expected);
});
