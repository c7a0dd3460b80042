import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";

export default defineConfig({
  // The examples import the package as its users do.
  resolve: { alias: { "karpenter-node-holder": join(import.meta.dirname, "infra/index.ts") } },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/temporary-folder.ts", "test/support/built-functions.ts"],
    exclude: ["test/real/**"],
    // Some tests wait for child processes, so two cores can run one more worker; each worker loads the same packages.
    maxWorkers: 3,
    // A process runs one file after the other, so that it loads the CDK and the SDKs once.
    isolate: false,
    // Processes that tests start would compile the same sources again and again.
    // The CDK validates every template, which takes seconds in each process: the real suite "template" asks for it.
    env: {
      NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compile"),
      CDK_VALIDATION: "false",
    },
    sequence: { sequencer: LongestFirst },
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
});
