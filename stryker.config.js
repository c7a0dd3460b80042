/** @type {import("@stryker-mutator/api/core").PartialStrykerOptions} */
export default {
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner", "./scripts/ignored-mutations.js"],
  ignorers: ["log-calls"],
  // Some tests set what only a whole process has, like the umask.
  // With --mutate only the test files that import what is mutated run, also in the first run without a mutation.
  vitest: { configFile: "vitest.mutate.config.ts", related: true, pool: "forks" },
  dryRunTimeoutMinutes: 30,
  // Entry files only load and connect: processes of the real suites run them.
  mutate: ["{lambda,infra,cli,local,report}/**/*.ts", "!lambda/main/**", "!infra/app.ts", "!cli/main.ts"],
  // Node runs the sources as they are. Stryker would rewrite tsconfig.json with an API that TypeScript 7 does not have.
  tsconfigFile: "none",
  ignorePatterns: ["build", "dist", "coverage"],
  coverageAnalysis: "perTest",
  ignoreStatic: true,
  concurrency: 2,
  // A test that is only slow on a busy machine must not count as one that noticed.
  timeoutMS: 10_000,
  timeoutFactor: 3,
  reporters: ["progress-append-only", "clear-text", "json"],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  incrementalFile: "build/mutation-incremental.json",
  jsonReporter: { fileName: "build/mutation.json" },
  tempDirName: "build/stryker",
  thresholds: { high: 95, low: 90, break: 90 },
};
