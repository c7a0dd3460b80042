import { join, relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The first test that fails ends the run of a mutation: tests of single decisions come before those of whole programs. */
const folders = [
  ...["core", "handlers", "record", "aws", "kubernetes", "cluster-access", "settings", "telemetry"],
  ...["report", "cli", "local", "infra", "contracts"],
];
const placeOf = ({ moduleId }: TestSpecification) =>
  folders.findIndex((folder) => relative(import.meta.dirname, moduleId).startsWith(`test/${folder}/`));
class QuickestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

// Each mutation runs only the tests that reach the mutated line.
export default defineConfig({
  test: {
    // Tests that state rules. Scenarios and the model check would take hours, and could only detect more.
    include: [
      `test/{${folders}}/**/*.test.ts`,
      "test/repository/version.test.ts",
      "test/fuzz/kubeconfig.test.ts",
    ],
    // What a browser or another process shows, what bundles contain, and what documents and sources say.
    exclude: [
      ...["test/local/page-in-browser.test.ts", "test/settings/new-setting.test.ts"],
      "test/infra/{alarms,bundles,deploying,examples,schema-keys}.test.ts",
    ],
    globalSetup: ["test/support/temporary-folder.ts", "test/support/built-functions.ts"],
    // Each mutation has a process of its own, which would compile the same packages again.
    env: {
      NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compile"),
      CDK_VALIDATION: "false",
    },
    isolate: false,
    // The first run, without a mutation, must pass on a busy machine, too; Stryker ends a mutation that waits for ever.
    testTimeout: 60_000,
    sequence: { sequencer: QuickestFirst },
  },
});
