#!/usr/bin/env node
import { existsSync } from "node:fs";

// A clone runs its sources; the package carries only what was compiled of them.
const source = new URL("main.ts", import.meta.url);
await import(existsSync(source) ? source : new URL("../dist/cli/main.js", import.meta.url));
