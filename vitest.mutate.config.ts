import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** `MUTATE_TESTS` names fewer tests: the quick ones first, all of them for what survives those. */
const tests = process.env.MUTATE_TESTS?.split(",") ?? [
  "test/{core,handlers,aws,kubernetes,cluster-access}/**/*.test.ts",
  "test/contracts/{holds,nodes}.test.ts",
  "test/local/node-watch.test.ts",
  "test/cli/manifest.test.ts",
];

/** A mutation may let a call wait for ever: a quick test notices it soon, while a scenario may just be slow. */
const testTimeout = 5_000;

/** The first test that fails ends the run of a mutation: tests of single decisions come first, whole scenarios last. */
class QuickestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}
const folders = [
  ...["test/core", "test/handlers", "test/aws", "test/kubernetes"],
  ...["test/cluster-access", "test/contracts", "test/scenarios"],
];
const placeOf = ({ moduleId }: TestSpecification) =>
  folders.findIndex((folder) => relative(import.meta.dirname, moduleId).startsWith(folder));

// The tests that state the rules. Each mutation runs only those that reach the mutated line.
export default defineConfig({
  test: { include: tests, isolate: false, testTimeout, sequence: { sequencer: QuickestFirst } },
});
