import { randomInt } from "node:crypto";
import { holdIdOf } from "./core/marks/hold-id.ts";
import type { Clock, Ids } from "./core/ports.ts";

/** The only place that reads the wall clock. */
export const systemClock: Clock = { now: () => new Date() };

const letters = "abcdefghijkmnpqrstuvwxyz23456789";
const suffix = () => Array.from({ length: 6 }, () => letters[randomInt(letters.length)]).join("");

/** Ids with a random end, without letters that are easily confused. */
export const holdIds: Ids = { newHoldId: (now) => holdIdOf(now, suffix()) };
