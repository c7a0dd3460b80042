#!/usr/bin/env node
import { commandLine } from "./command-line.ts";
import { processTerminal } from "./terminal/terminal.ts";

process.exitCode = await commandLine(process.argv.slice(2), processTerminal());
