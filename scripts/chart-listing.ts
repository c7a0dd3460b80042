import { dump } from "js-yaml";
import { holderName } from "../lambda/core/marks/keys.ts";

type Listed = Readonly<{ version: string; license: string; home: string; image: string }>;

/** What Artifact Hub and others show of the chart: its icon, and annotations that they read. */
export function chartListing({ version, license, home, image }: Listed, changelog?: string) {
  const raw = home.replace("https://github.com/", "https://raw.githubusercontent.com/");
  return {
    icon: `${raw}/v${version}/docs/images/icon.svg`,
    annotations: {
      "artifacthub.io/license": license,
      "artifacthub.io/images": dump([{ name: holderName, image: `${image}:${version}` }]),
      "artifacthub.io/links": dump([{ name: "Documents", url: `${home}/tree/v${version}/docs` }]),
      ...(changelog && { "artifacthub.io/changes": dump(changesIn(changelog, version), { lineWidth: -1 }) }),
    },
  };
}

/** The lines of a version in the changelog, as plain text. */
const changesIn = (changelog: string, version: string) => {
  const entry = changelog.split("\n## ").find((one) => one.startsWith(`${version} `)) ?? "";
  const lines = entry.split("\n").filter((line) => line.startsWith("- "));
  return lines.map((line) => ({
    kind: "added",
    description: line
      .slice(2)
      .replaceAll("`", "")
      .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1"),
  }));
};
