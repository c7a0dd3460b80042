import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { documentLink } from "../../infra/package-root.ts";
import { version as inLogs } from "../../lambda/version.ts";
import { readKeptTemplates } from "../infra/kept-templates.ts";
import { documents } from "./documents.ts";

const read = (file: string) => readFileSync(file, "utf8");
const { version } = JSON.parse(read("package.json"));

it("is the same in the package, its lock file, every log line and the newest entry of the changelog", () => {
  const lock = JSON.parse(read("package-lock.json"));
  const newest = /^## (\S+)/m.exec(read("CHANGELOG.md"))?.[1];
  expect([lock.version, lock.packages[""].version, inLogs, newest]).toEqual(Array(4).fill(version));
});

it("is the one whose documents messages link to, where package.json names a repository", () => {
  const url = "git+https://github.com/someone/holder.git";
  const link = documentLink("operating.md#a", { version: "1.2.3", repository: { url } });
  expect(link).toBe("https://github.com/someone/holder/blob/v1.2.3/docs/operating.md#a");
  expect(documentLink("operating.md", { version: "1.2.3" })).toBe("docs/operating.md");
});

it("is the one that documents install", () => {
  const named = documents.flatMap((document) =>
    [
      ...read(document).matchAll(
        /(?:karpenter-node-holder(?:@| --version )|\/releases\/download\/v)([\w.-]+\w)/g,
      ),
    ].map(([, one]) => one),
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((one) => one !== version)).toEqual([]);
});

it("has its template kept, once it is released: `npm run keep:template`", () => {
  const entries = [...read("CHANGELOG.md").matchAll(/^## (\S+)(.*)$/gm)];
  const released = entries.filter(([, , more = ""]) => !more.includes("unreleased")).map(([, one]) => one);
  const kept = readKeptTemplates().map((one) => one.version);
  expect(kept).toEqual(expect.arrayContaining(released));
  expect(entries.map(([, one]) => one)).toEqual(expect.arrayContaining(kept));
});
