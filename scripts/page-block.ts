import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const docs = join(import.meta.dirname, "../docs");

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
  /** Where the page with this block goes; without it, into the documents. */
  into?: string | undefined;
}>;

/** Writes a command's results into its block of a page; returns the page's file. */
export function writeBlock({ page, command, block, pictures = {}, into = docs }: PageBlock): string {
  const text = withBlock(readFileSync(join(docs, page), "utf8"), command, block);
  const images = join(into, "images");
  mkdirSync(images, { recursive: true });
  for (const [name, picture] of Object.entries(pictures)) writeFileSync(join(images, name), `${picture}\n`);
  const file = join(into, page);
  writeFileSync(file, text);
  return file;
}
