import type { Duration } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import type { QueueMessage } from "./launch-queue.ts";

/** What becomes of the call an invocation is about to make. */
export type Verdict = "done" | "refused" | "answer lost";

export type FunctionName = "hold" | "release" | "sweep" | "control";

type Ending = (invocation: Invocation) => void;

/** One run of a function, which rests before every effect until it is told to go on. */
export class Invocation {
  readonly name: FunctionName;
  /** How far this function's clock is ahead of the true time. */
  readonly skew: Duration;
  readonly begunAt: Date;
  readonly deadline: Date;
  /** The call it rests before. */
  waitsFor = "";
  /** How many calls it has made. */
  calls = 0;
  /** Whether some call of it did not succeed. */
  wasHindered = false;
  state: "resting" | "going" | "done" | "failed" | "crashed" = "going";
  answer: unknown;
  /** The batch it was given, if it was given one. */
  messages: readonly QueueMessage[] = [];
  /** It never rests: for what only reads, several things at once. */
  isFree = false;
  #go: (verdict: Verdict) => void = () => {};
  #rest: () => void = () => {};
  #verdict: Verdict = "done";
  readonly #ending: Ending;

  constructor(name: FunctionName, skew: Duration, [begunAt, deadline]: [Date, Date], ending: Ending) {
    this.name = name;
    this.skew = skew;
    this.begunAt = begunAt;
    this.deadline = deadline;
    this.#ending = ending;
  }

  /** Begins the work; comes back when it rests for the first time or has ended. */
  async begin(work: () => Promise<unknown>): Promise<void> {
    const rest = this.#untilRest();
    work().then(
      (answer) => this.#end("done", answer),
      (error) => this.#end("failed", error),
    );
    await rest;
  }

  /** Makes the call it rests before; comes back when it rests again or has ended. */
  async step(verdict: Verdict = "done"): Promise<void> {
    if (this.state !== "resting") return;
    const rest = this.#untilRest();
    this.state = "going";
    this.calls += 1;
    this.#verdict = verdict;
    if (verdict !== "done") this.wasHindered = true;
    this.#go(verdict);
    await rest;
  }

  /** The process is gone: nothing after the last call ever happens. */
  crash(): void {
    if (this.state === "resting") this.#end("crashed", undefined);
  }

  /** NewEvent by a port before it does anything. */
  async before(call: string): Promise<void> {
    if (this.isFree) return;
    this.waitsFor = call;
    this.state = "resting";
    const verdict = await new Promise<Verdict>((go) => {
      this.#go = go;
      this.#rest();
    });
    if (verdict === "refused") throw new TryAgainError(`${call} was refused`);
  }

  /** NewEvent by a port when all is done. */
  after(call: string): void {
    if (this.#verdict === "answer lost") throw new TryAgainError(`the answer to ${call} got lost`);
  }

  #untilRest(): Promise<void> {
    return new Promise((resolve) => {
      this.#rest = resolve;
    });
  }

  #end(state: "done" | "failed" | "crashed", answer: unknown): void {
    this.state = state;
    this.answer = answer;
    this.#ending(this);
    this.#rest();
  }
}
