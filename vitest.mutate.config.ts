import { defineConfig } from "vitest/config";

/** `MUTATE_TESTS` names fewer tests: the quick ones first, all of them for what survives those. */
const tests = process.env.MUTATE_TESTS?.split(",") ?? [
  "test/{core,handlers,scenarios,cluster-access}/**/*.test.ts",
  "test/contracts/nodes.test.ts",
];

// The tests that state the rules. Each mutation runs only those that reach the mutated line.
export default defineConfig({
  test: { include: tests, isolate: false, testTimeout: 20_000 },
});
