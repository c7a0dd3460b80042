import { randomInt } from "node:crypto";
import type { Clock, Ids } from "./core/ports.ts";

/** The only place that reads the wall clock. */
export const systemClock: Clock = { now: () => new Date() };

const letters = "abcdefghijkmnpqrstuvwxyz23456789";
const suffix = () => Array.from({ length: 6 }, () => letters[randomInt(letters.length)]).join("");

/** Ids that sort by time and read well as a label: 20260131t093005-k3f9ax. */
export const holdIds: Ids = {
  newHoldId: (now) => `${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, "").toLowerCase()}-${suffix()}`,
};
