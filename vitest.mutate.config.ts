import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The tests that state the rules and are quick. Scenarios and the model check would take hours, and could only detect more. */
const tests = [
  "test/{core,handlers,aws,kubernetes,cluster-access}/**/*.test.ts",
  "test/contracts/{holds,nodes}.test.ts",
  "test/local/node-watch.test.ts",
  "test/cli/manifest.test.ts",
];

/** The first test that fails ends the run of a mutation: tests of single decisions come first. */
class QuickestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}
const folders = [
  ...["test/core", "test/handlers", "test/aws", "test/kubernetes"],
  ...["test/cluster-access", "test/contracts"],
];
const placeOf = ({ moduleId }: TestSpecification) =>
  folders.findIndex((folder) => relative(import.meta.dirname, moduleId).startsWith(folder));

// Each mutation runs only the tests that reach the mutated line; it may let a call wait for ever.
export default defineConfig({
  test: { include: tests, isolate: false, testTimeout: 5_000, sequence: { sequencer: QuickestFirst } },
});
