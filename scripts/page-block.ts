import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const docs = join(root, "docs");

/** Replaces the text between the two markers of a command in a page, and nothing else. */
export function withBlock(page: string, command: string, block: string): string {
  const begin = `<!-- begin: written by ${command} -->`;
  const end = `<!-- end: written by ${command} -->`;
  const [before, rest] = page.split(begin);
  const [, after] = rest?.split(end) ?? [];
  if (after === undefined) throw new Error(`the page needs the lines ${begin} and ${end}`);
  return `${before}${begin}\n\n${block}\n\n${end}${after}`;
}

export type PageBlock = Readonly<{
  page: string;
  command: string;
  block: string;
  /** Pictures by name, for the folder `images`. */
  pictures?: Readonly<Record<string, string>>;
  /** The folder where the page with this block goes; without it, where it is. */
  into?: string | undefined;
}>;

/** Writes a command's results into its block of the README or of a document; returns the page's file. */
export function writeBlock({ page, command, block, pictures = {}, into: folder }: PageBlock): string {
  const home = page === "README.md" ? root : docs;
  const into = folder ?? home;
  const text = withBlock(readFileSync(join(home, page), "utf8"), command, block);
  const images = join(into, "images");
  mkdirSync(Object.keys(pictures).length > 0 ? images : into, { recursive: true });
  for (const [name, picture] of Object.entries(pictures)) writeFileSync(join(images, name), `${picture}\n`);
  const file = join(into, page);
  writeFileSync(file, text);
  return file;
}
