import { markdownTable } from "../../../scripts/markdown-table.ts";
import { writeBlock } from "../../../scripts/page-block.ts";
import { arms } from "../arms.ts";
import type { RunResult } from "../result.ts";
import { type Group, groupsOf } from "./groups.ts";
import { drawGroups } from "./picture.ts";
import { summaryOf } from "./summary.ts";
import { tablesOf } from "./table.ts";
import { verdictOf } from "./verdict.ts";

const pictureFile = "lab-costs.svg";

type Stored = Readonly<{ results: readonly RunResult[]; wanted: number; into?: string | undefined }>;

/** Writes docs/lab.md with its picture, and the summary in the README; returns the page's file. */
export function writePage({ results, wanted, into }: Stored): string {
  const groups = groupsOf(results);
  const pictured = picturedOf(groups);
  const pictures = { [pictureFile]: drawGroups(pictured, "What the nodes of a day cost") };
  const command = "npm run lab";
  writeBlock({ page: "README.md", command, block: summaryOf(pictured), into });
  return writeBlock({
    page: "lab.md",
    command,
    block: blockOf(results, wanted),
    pictures,
    into,
  });
}

/** What the page shows of the results: the verdict first. */
export function blockOf(results: readonly RunResult[], wanted: number): string {
  return [
    ...verdictOf(groupsOf(results)),
    `![What nodes cost against what launches and evictions cost, by arm](images/${pictureFile})`,
    "Below the line through the best of Karpenter's own settings everything costs less than that one.",
    "### The arms",
    markdownTable(
      ["Arm", "What it is"],
      arms.map(({ name, about }) => [`\`${name}\``, about]),
    ),
    tablesOf(results, "### "),
    provenance(results, wanted),
  ].join("\n\n");
}

/** The newest version and 1.13, which differ most, on a day with one size of nodes; or the first group that there is. */
function picturedOf(groups: readonly Group[]): readonly Group[] {
  const days = groups.filter(({ trace, types }) => trace === "day" && types === "one");
  const shown = [days[0], days.find(({ karpenter }) => karpenter.startsWith("1.13."))];
  const chosen = [...new Set(shown.filter((one) => one !== undefined))];
  return chosen.length > 0 ? chosen : groups.slice(0, 1);
}

function provenance(results: readonly RunResult[], wanted: number): string {
  const all = (of: (one: RunResult) => string) => [...new Set(results.map(of))].sort().join(", ");
  const hours = results.reduce((sum, { wallSeconds }) => sum + wallSeconds, 0) / 3_600;
  const missing = wanted - results.length;
  return [
    all(({ date }) => date),
    `Karpenter ${all(({ karpenter }) => karpenter)}, holder ${all(({ version }) => version)}`,
    all(({ machine }) => machine),
    `${results.length} runs, ${hours.toFixed(1)} hours of one core${missing > 0 ? `; ${missing} of the comparison's ${wanted} runs are missing` : ""}.`,
  ].join("; ");
}
