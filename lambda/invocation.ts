import { after, type Duration, seconds } from "./core/duration.ts";
import { BadInputError } from "./core/errors.ts";
import type { CallContext, Clock, Log } from "./core/ports.ts";

/** The part of Lambda's context that we use. */
export type InvocationContext = Readonly<{ awsRequestId: string; getRemainingTimeInMillis(): number }>;

type Observer = Readonly<{ log: Log; begin(requestId: string): void; end(left: Duration): unknown }>;

/** The time kept free at the end of an invocation, to record what was done and to queue what is left. */
const reserve = seconds(8);

/** The time in which the function itself ends. */
const margin = seconds(1);

/** Wraps a handler: sets the deadline, logs with the invocation's id, emits the metrics, logs errors and throws them again. */
export const invocation =
  <T>(telemetry: Observer, clock: Clock, handle: (event: unknown, context: CallContext) => Promise<T>) =>
  async (event: unknown, context: InvocationContext): Promise<T> => {
    telemetry.begin(context.awsRequestId);
    try {
      const deadline = after(clock.now(), context.getRemainingTimeInMillis() - reserve);
      return await handle(event, { deadline, log: telemetry.log, requestId: context.awsRequestId });
    } catch (error) {
      const isInput = error instanceof BadInputError;
      telemetry.log.error(isInput ? "input refused" : "invocation failed", { error });
      throw error;
    } finally {
      await telemetry.end(context.getRemainingTimeInMillis() - margin);
    }
  };
