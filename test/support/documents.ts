import { globSync, readFileSync } from "node:fs";

/** Something that a document tells people to type. */
export type Typed = Readonly<{ where: string; command: string; needsAccount: boolean }>;

/** Says in a block of commands that none of our tests runs them. */
const mark = "# needs an AWS account";
const programs = /^(npm|npx|karpenter-node-holder|kubectl|aws|cdk) /;

/** Every page that people read. */
export const documents: readonly string[] = globSync(["*.md", ".github/*.md", "docs/**/*.md"]).sort();

/** What a document tells people to type: in blocks, and in a line of text. */
export function typedIn(document: string): readonly Typed[] {
  const { blocks, prose } = partsOf(document);
  return [...blocks.flatMap(inBlock), ...prose.flatMap(inLine)];
}

/** A document's text without its blocks of code, by line. */
export const proseOf = (document: string): readonly string[] =>
  partsOf(document).prose.map(({ text }) => text);

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
  const needsAccount = lines.some(({ text }) => text.trim() === mark);
  const typed: Typed[] = [];
  let begun: Line | undefined;
  for (const { where, text } of lines) {
    const said = `${begun?.text ?? ""}${text.replace(/(^|\s+)#.*$/, "")}`;
    begun = { where: begun?.where ?? where, text: said.replace(/\\$/, "").trimEnd() };
    if (said.endsWith("\\")) continue;
    typed.push(...commandsIn(begun.text).map((command) => ({ where, command, needsAccount })));
    begun = undefined;
  }
  return typed;
}

/** Without an option it only speaks of the command, unless it is one of ours. */
const inLine = ({ where, text }: Line): readonly Typed[] =>
  [...text.matchAll(/`([^`]+)`/g)]
    .flatMap(([, code = ""]) => commandsIn(code))
    .filter(
      (command) =>
        programs.test(command) && (/ -/.test(command) || /^(npm |npx karpenter-node-holder )/.test(command)),
    )
    .map((command) => ({ where, command, needsAccount: false }));

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
