import { setTimeout as pass } from "node:timers/promises";
import { processTerminal } from "../cli/terminal.ts";
import { tellStory } from "./story/story.ts";

const terminal = processTerminal();
const checks = await tellStory(terminal, (from, to) =>
  pass(Math.min(700, (to.getTime() - from.getTime()) / 100)),
);
process.exitCode = checks.every((check) => check.isKept) ? 0 : 1;
