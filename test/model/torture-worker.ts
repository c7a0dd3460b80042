import { parentPort } from "node:worker_threads";
import { check, type Replay } from "./check.ts";

/** One core's share of the torture: plays what it is sent, and answers with the broken run or none. */
parentPort?.on("message", async (chunk: Replay) => parentPort?.postMessage(await check(chunk)));
