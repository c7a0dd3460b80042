#!/usr/bin/env node
import { existsSync } from "node:fs";

// Older versions have no node:sqlite, and would fail with a stack trace that does not say so.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 13)) {
  console.error(
    `error: karpenter-node-holder needs Node 22.13 or later; this is Node ${process.versions.node}`,
  );
  console.error("Install a later version of Node, and run the same command again.");
  process.exitCode = 1;
} else {
  hideExperimentalWarnings();
  // A clone runs its sources; the package carries only what was built from them.
  const source = new URL("main.ts", import.meta.url);
  await import(existsSync(source) ? source : new URL("../dist/cli/main.js", import.meta.url));
}

/** Node 22 prints one for node:sqlite. */
function hideExperimentalWarnings() {
  const printers = process.listeners("warning");
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    if (warning.name !== "ExperimentalWarning") for (const print of printers) print(warning);
  });
}
