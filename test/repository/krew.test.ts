import { readFileSync } from "node:fs";
import { load } from "js-yaml";
import { expect, it } from "vitest";

const about = JSON.parse(readFileSync("package.json", "utf8"));
const text = readFileSync(".krew.yaml", "utf8");
const [line = "", address = ""] = /^ +\{\{addURIAndSha "(.+)" \.TagName \| indent 6 \}\}$/m.exec(text) ?? [];
const filled = text.replace(line, "").replaceAll("{{ .TagName }}", `v${about.version}`);
const { metadata, spec } = Object(load(filled));

it("the manifest for krew names what the package and its release have", () => {
  expect(metadata.name).toBe(about.name);
  expect(spec.version).toBe(`v${about.version}`);
  const home = about.homepage.replace("#readme", "");
  expect(spec.homepage).toBe(home);
  expect(address).toBe(`${home}/releases/download/{{ .TagName }}/package.tgz`);
  const attached = readFileSync(".github/workflows/release.yml", "utf8").match(/gh release create .+/)?.[0];
  expect(attached).toContain(" release/package.tgz ");
  expect(spec.caveats).toContain(`Node ${about.engines.node.slice(2)} or later`);
});

it("it runs the program of kubectl's plugin, which the package contains", () => {
  const [platform] = spec.platforms;
  // kubectl writes a plugin's dashes as underscores.
  expect(platform.bin).toBe(about.bin[`kubectl-${metadata.name.replaceAll("-", "_")}`]);
  expect(about.files).toContain(platform.bin);
  expect(platform.files).toEqual([{ from: "package/*", to: "." }]);
});

it("it keeps krew's limit of a short description", () => {
  expect(spec.shortDescription.length).toBeLessThanOrEqual(50);
});
