import * as v from "valibot";
import { anyText } from "../../lambda/schemas/holds.ts";
import type { StatusAnswer } from "../answers.ts";
import { Failure } from "../terminal/failure.ts";

/** Sends a control request to a holder, and waits for the answer until the signal comes; the caller reads the answer. */
export type Ask = (request: Readonly<Record<string, unknown>>, signal?: AbortSignal) => Promise<unknown>;

/** The holder that a command is about: deployed, or a process on this machine. */
export type ControlClient = Readonly<{
  ask: Ask;
  /** What it is called in titles. */
  name: string;
  /** The flags that lead to it, for commands that we print. */
  flags: string;
  /** How to let it hold the nodes of this cluster from now on, where it only observes. */
  toHold: (status: Pick<StatusAnswer, "cluster" | "toHold">) => string;
}>;

/** A holder takes two minutes at most. */
export const giveUpAfter = 130_000;

/** A holder's answer as JSON. */
export function parseJson(who: string, text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    const message = `${who} answered with something that is not JSON: ${text.slice(0, 200)}`;
    throw new Failure(message, "Its code may have another version.");
  }
}

const reported = v.object({ errorType: v.fallback(anyText, ""), errorMessage: anyText });

/** An error that a holder reported; `otherwise` is the remedy for one that it does not explain. */
export function holderFailed(who: string, payload: unknown, otherwise: string): Failure {
  const { success, output } = v.safeParse(reported, payload);
  if (!success) return new Failure(`${who} failed`, otherwise);
  const { errorType, errorMessage } = output;
  if (errorType === "BadInputError") return new Failure(errorMessage, "Nothing was changed.");
  if (errorType === "TryAgainError")
    return new Failure(errorMessage, "This may pass: try again in a moment.");
  return new Failure(errorMessage, otherwise);
}
