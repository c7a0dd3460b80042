import { readFileSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files with the longest timeouts begin first, so that no long one runs alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const timeouts = new Map(files.map((file) => [file, longestTimeoutIn(file.moduleId)]));
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => (timeouts.get(b) ?? 0) - (timeouts.get(a) ?? 0));
  }
}

const longestTimeoutIn = (file: string): number => {
  const named = [...readFileSync(file, "utf8").matchAll(/timeout: ([\d_]+)/g)];
  return Math.max(0, ...named.map(([, text = ""]) => Number(text.replaceAll("_", ""))));
};
