import { join } from "node:path";
import {
  API,
  type Checker,
  SymbolFlags,
  TypeFlags,
  type Symbol as TypeSymbol,
} from "typescript/unstable/sync";
import { writeBlock } from "./page-block.ts";

const root = join(import.meta.dirname, "..");
const command = "npm run docs:api";
/** Its props are the settings, whose meaning another page has. */
const settingsProps = "KarpenterNodeHolderProps";
const [noTruncation, insideAlias] = [1, 1 << 23];

/** Every export of the package with its members, read by the compiler. */
export function apiBlock(): string {
  const api = new API({ cwd: root });
  try {
    const openProject = join(root, "tsconfig.build.json");
    const project = api.updateSnapshot({ openProject }).getProject(openProject);
    const index = project?.program.getSourceFile(join(root, "infra/index.ts"));
    const module = index && project?.checker.getSymbolAtLocation(index);
    if (!project || !module) throw new Error("the compiler found no infra/index.ts in tsconfig.build.json");
    const { checker } = project;
    return (
      checker
        .getExportsOfModule(module)
        .map((one) => checker.getAliasedSymbol(one))
        // Classes come before interfaces, and these before other types.
        .toSorted((a, b) => a.flags - b.flags)
        .map((one) => sectionOf(checker, one))
        .join("\n\n")
    );
  } finally {
    api.close();
  }
}

function sectionOf(checker: Checker, exported: TypeSymbol): string {
  const type = checker.getDeclaredTypeOfSymbol(exported);
  const parts = [`## ${exported.name}`, helpOf(checker, exported).meaning];
  if (type.flags & TypeFlags.Union) {
    return [...parts, `\`${checker.typeToString(type, undefined, noTruncation | insideAlias)}\``].join(
      "\n\n",
    );
  }
  const members = checker.getPropertiesOfType(type).filter(isOurs);
  const rows = members.map((member) => ({ code: codeOf(checker, member), ...helpOf(checker, member) }));
  const hasDefaults = rows.some(({ fallback }) => fallback);
  const columns = [
    {
      title: exported.flags & SymbolFlags.Class ? "Member" : "Prop",
      cell: (row: Row) => `\`${row.code.replaceAll("|", "\\|")}\``,
    },
    ...(hasDefaults ? [{ title: "Default", cell: ({ fallback = "required" }: Row) => fallback }] : []),
    ...(exported.name === settingsProps ? [] : [{ title: "Meaning", cell: ({ meaning }: Row) => meaning }]),
  ];
  const lines = [
    columns.map(({ title }) => title),
    columns.map(() => "---"),
    ...rows.map((row) => columns.map(({ cell }) => cell(row))),
  ];
  return [...parts, lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")].join("\n\n");
}

type Row = Readonly<{ code: string; meaning: string; fallback: string | undefined }>;

/** What an app can use, and the CDK does not give to every construct. */
function isOurs({ declarations }: TypeSymbol): boolean {
  const [declaration] = declarations;
  if (!declaration || declaration.path.includes("node_modules")) return false;
  return !declaration.resolve()?.getText().startsWith("private ");
}

function codeOf(checker: Checker, member: TypeSymbol): string {
  const { name, flags, valueDeclaration } = member;
  if (flags & SymbolFlags.Method) return valueDeclaration?.resolve()?.getText().split(" {\n")[0] ?? name;
  const type = checker.getTypeOfSymbol(member);
  const isOptional = (flags & SymbolFlags.Optional) !== 0;
  const given = type && isOptional ? checker.getNonNullableType(type) : type;
  return `${name}${isOptional ? "?" : ""}: ${given ? checker.typeToString(given, undefined, noTruncation) : "unknown"}`;
}

/** The comment above it, and the default at the comment's end. */
function helpOf(checker: Checker, symbol: TypeSymbol): Omit<Row, "code"> {
  const comment = checker.getDocumentationCommentOfSymbol(symbol);
  const [, meaning, fallback] = /^(.+?)(?: Default: (.+)\.)?$/.exec(comment) ?? [];
  if (!meaning) throw new Error(`${symbol.name} needs a comment of one line above it`);
  return { meaning, fallback };
}

if (import.meta.main) writeBlock({ page: "api.md", command, block: apiBlock() });
