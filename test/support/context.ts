import type { Duration } from "../../lambda/core/duration.ts";
import type { CallContext, Log } from "../../lambda/core/ports.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";

/** The context of a call with this deadline. */
export const until = (deadline: Date, log: Log = new CollectedLog()): CallContext => ({ deadline, log });

/** The context of a call that may take this long from now on. */
export const within = (duration: Duration, log?: Log): CallContext =>
  until(new Date(Date.now() + duration), log);
