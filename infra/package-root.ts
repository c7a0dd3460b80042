import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder of the repository or of the installed package: code runs from several places inside of it. */
export function packageRoot(from: string): string {
  const manifest = join(from, "package.json");
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).name === "karpenter-node-holder")
    return from;
  if (dirname(from) === from) throw new Error("The package karpenter-node-holder has no package.json");
  return packageRoot(dirname(from));
}

type Manifest = Readonly<{ version: string; repository?: Readonly<{ url: string }> }>;

/** Where a page of docs/ is read: in the repository that package.json names, as of this version; else in the package. */
export function documentLink(page: string, { version, repository }: Manifest = manifest()): string {
  const [address] = /https:\/\/.+?(?=\.git$|$)/.exec(repository?.url ?? "") ?? [];
  return address ? `${address}/blob/v${version}/docs/${page}` : `docs/${page}`;
}

const manifest = (): Manifest =>
  JSON.parse(readFileSync(join(packageRoot(import.meta.dirname), "package.json"), "utf8"));
