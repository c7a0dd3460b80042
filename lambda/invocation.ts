import { after, seconds } from "./core/duration.ts";
import { BadInputError } from "./core/errors.ts";
import type { CallContext, Clock, Log } from "./core/ports.ts";

/** The part of Lambda's context that we use. */
export type InvocationContext = Readonly<{ awsRequestId: string; getRemainingTimeInMillis(): number }>;

type Observer = Readonly<{ log: Log; begin(requestId: string): void; end(): void }>;

/** Kept free at the end of an invocation, so that what was done is recorded and what is left is handed on. */
const reserve = seconds(8);

/** What every function does around its handler: a deadline, an id in each line, metrics reported, errors reported and thrown. */
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
      telemetry.end();
    }
  };
