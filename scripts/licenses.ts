import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Metafile } from "esbuild";

const root = join(import.meta.dirname, "..");

/** The folders of all packages whose code is in a bundle, relative to the repository. */
export function bundledPackages({ outputs }: Metafile): readonly string[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  const folders = inputs.flatMap(([path, { bytesInOutput }]) => {
    const folder = path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0];
    return folder !== undefined && bytesInOutput > 0 ? [folder] : [];
  });
  return [...new Set(folders)].sort();
}

/** All licenses in one text: each once, after the names of its packages. */
export function licensesOf(folders: Iterable<string>): string {
  const owners = new Map<string, string[]>();
  for (const folder of [...folders].sort()) {
    const { name, version, license, author } = manifestOf(folder);
    const text = textsIn(folder) || `${license}${author ? `, by ${author}` : ""}`;
    owners.set(text, [...(owners.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const sections = [...owners].map(([text, packages]) => `${packages.join("\n")}\n\n${text}\n`);
  return ["This package contains code of the following packages.\n", ...sections].join(
    `\n${"-".repeat(80)}\n\n`,
  );
}

function manifestOf(folder: string) {
  const { name, version, license, author } = JSON.parse(
    readFileSync(join(root, folder, "package.json"), "utf8"),
  );
  if (typeof license !== "string") throw new Error(`${folder} names no license`);
  return { name, version, license, author: typeof author === "object" ? author?.name : author };
}

function textsIn(folder: string): string {
  const files = readdirSync(join(root, folder)).filter((name) => /^(licen[cs]e|notice|copying)/i.test(name));
  return files
    .toSorted()
    .map((name) => readFileSync(join(root, folder, name), "utf8").trim())
    .join("\n\n");
}
