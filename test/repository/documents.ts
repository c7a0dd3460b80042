import { globSync, readFileSync } from "node:fs";

/** A command in a document. */
export type Typed = Readonly<{ where: string; command: string }>;

const programs = /^(npm|npx|karpenter-node-holder|kubectl|aws|cdk) /;

/** Every document. */
export const documents: readonly string[] = globSync([
  "*.md",
  ".github/*.md",
  "docs/**/*.md",
  "charts/*/*.md",
  "terraform/*.md",
]).sort();

/** The commands in a document: in blocks of code, and inline. */
export function typedIn(document: string): readonly Typed[] {
  const { blocks, prose } = partsOf(document);
  return [...blocks.flatMap(inBlock), ...prose.flatMap(inLine)];
}

/** A document's text without its blocks of code, by line. */
export const proseOf = (document: string): readonly string[] =>
  partsOf(document).prose.map(({ text }) => text);

/** A document's blocks of code in one language. */
export const blocksIn = (document: string, language: string): readonly string[] =>
  partsOf(document)
    .blocks.filter((block) => block.language === language)
    .map(({ lines }) => lines.map(({ text }) => text).join("\n"));

type Line = Readonly<{ where: string; text: string }>;
type Block = Readonly<{ language: string; lines: readonly Line[] }>;

function partsOf(document: string): Readonly<{ blocks: readonly Block[]; prose: readonly Line[] }> {
  const blocks: { language: string; lines: Line[] }[] = [];
  const prose: Line[] = [];
  let open: { language: string; lines: Line[] } | undefined;
  for (const [at, text] of readFileSync(document, "utf8").split("\n").entries()) {
    const line = { where: `${document}:${at + 1}`, text };
    const fence = /^\s*```(.*)$/.exec(text);
    if (!fence) {
      (open?.lines ?? prose).push(line);
    } else if (open) {
      open = undefined;
    } else {
      open = { language: (fence[1] ?? "").trim(), lines: [] };
      blocks.push(open);
    }
  }
  if (open) throw new Error(`${document}: a block of code does not end`);
  return { blocks, prose };
}

function inBlock({ language, lines }: Block): readonly Typed[] {
  if (!["sh", "bash", "shell", "console"].includes(language)) return [];
  const typed: Typed[] = [];
  let begun: Line | undefined;
  for (const { where, text } of lines) {
    const joined = `${begun?.text ?? ""}${text.replace(/(^|\s+)#.*$/, "")}`;
    begun = { where: begun?.where ?? where, text: joined.replace(/\\$/, "").trimEnd() };
    if (joined.endsWith("\\")) continue;
    typed.push(...commandsIn(begun.text).map((command) => ({ where, command })));
    begun = undefined;
  }
  return typed;
}

/** Inline code without a flag is a mention, unless it is one of our commands. */
const inLine = ({ where, text }: Line): readonly Typed[] =>
  [...text.matchAll(/`([^`]+)`/g)]
    .flatMap(([, code = ""]) => commandsIn(code))
    .filter(
      (command) =>
        programs.test(command) && (/ -/.test(command) || /^(npm |npx karpenter-node-holder )/.test(command)),
    )
    .map((command) => ({ where, command }));

/** One command each, about one cluster. */
const commandsIn = (text: string): readonly string[] =>
  text
    .split(" && ")
    .map((command) =>
      command
        .trim()
        .replaceAll(/\b(NAME|CLUSTER)\b/g, "prod")
        .replaceAll(/ +/g, " "),
    )
    .filter((command) => command !== "");
