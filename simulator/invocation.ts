import { type Duration, minutes } from "../lambda/core/duration.ts";
import { BadInputError, BrokenSetupError, TryAgainError } from "../lambda/core/errors.ts";
import type { Settings } from "../lambda/settings.ts";
import type { Message } from "../local/holder/queue.ts";

/** The outcome of a call: it is made, it fails without effect, its answer is lost, or its answer comes later. */
export type Verdict = "done" | "refused" | "answer lost" | "answer late";

export type FunctionName = "hold" | "release" | "sweep" | "control";

/** How long each function may run. */
export const timeouts: Record<FunctionName, Duration> = {
  hold: minutes(2),
  release: minutes(5),
  sweep: minutes(5),
  control: minutes(2),
};

/** Lambda's delays before it retries a failed asynchronous invocation. */
export const retriesAfter: readonly Duration[] = [minutes(1), minutes(2)];

export type InvocationOptions = Readonly<{
  name: FunctionName;
  /** How far this function's clock is ahead. */
  skew: Duration;
  begunAt: Date;
  deadline: Date;
  /** The settings it was deployed with. */
  settings: Settings;
  /** What it was invoked with, unless that is a batch of messages. */
  input?: unknown;
  /** How often it was tried before. */
  attempt?: number;
  /** The batch of messages it was given. */
  messages: readonly Message[];
  onEnd: (invocation: Invocation) => void;
}>;

type Waiting = Readonly<{ call: string; go: (verdict: Verdict) => void }>;

/** Every promise that can be settled without another step is settled. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Whether the product does not name this error: then its code is wrong. */
const isBug = (error: unknown): boolean =>
  error instanceof AggregateError
    ? error.errors.some(isBug)
    : ![BadInputError, BrokenSetupError, TryAgainError].some((known) => error instanceof known);

/** One run of a function, which waits before every call until it is stepped. */
export class Invocation {
  readonly name: FunctionName;
  readonly skew: Duration;
  readonly begunAt: Date;
  readonly deadline: Date;
  readonly settings: Settings;
  readonly input: unknown;
  readonly attempt: number;
  readonly messages: readonly Message[];
  /** How many calls it has made. */
  calls = 0;
  /** Whether a single call of it failed. */
  wasDisturbed = false;
  /** Its calls that met a lasting fault. */
  readonly refused: string[] = [];
  /** Its calls that were not answered before their deadline. */
  readonly late: string[] = [];
  state: "running" | "done" | "failed" | "crashed" = "running";
  answer: unknown;
  readonly #waiting: Waiting[] = [];
  readonly #onEnd: (invocation: Invocation) => void;

  constructor({
    name,
    skew,
    begunAt,
    deadline,
    settings,
    input,
    attempt = 0,
    messages,
    onEnd,
  }: InvocationOptions) {
    this.name = name;
    this.skew = skew;
    this.begunAt = begunAt;
    this.deadline = deadline;
    this.settings = settings;
    this.input = input;
    this.attempt = attempt;
    this.messages = messages;
    this.#onEnd = onEnd;
  }

  /** The calls that it makes next: any of them may be answered first, as in the real function. */
  get waiting(): readonly string[] {
    return this.#waiting.map(({ call }) => call);
  }

  /** Starts the work; resolves when it waits for the first time or has ended, and fails where the code is wrong. */
  async begin(work: (deadline: Date) => Promise<unknown>): Promise<void> {
    work(this.deadline).then(
      (answer) => this.#end("done", answer),
      (error) => this.#end("failed", error),
    );
    await this.#settle();
  }

  /** Makes one of the calls that wait; ends as its beginning does. */
  async step(verdict: Verdict = "done", which = 0): Promise<void> {
    if (this.state !== "running") return;
    const [next] = this.#waiting.splice(which % this.#waiting.length, 1);
    if (!next) throw new Error(`${this.name} waits for something outside of the simulation`);
    this.calls += 1;
    if (verdict === "refused" || verdict === "answer lost") this.wasDisturbed = true;
    next.go(verdict);
    await this.#settle();
  }

  /** Ends the process: nothing after the last call happens. */
  crash(): void {
    this.#end("crashed", undefined);
  }

  /** Called before a call is made; resolves when it is this call's turn. */
  waitBefore(call: string): Promise<Verdict> {
    return new Promise((go) => this.#waiting.push({ call, go }));
  }

  async #settle(): Promise<void> {
    await settled();
    if (this.state === "failed" && isBug(this.answer)) throw this.answer;
  }

  #end(state: "done" | "failed" | "crashed", answer: unknown): void {
    if (this.state !== "running") return;
    this.state = state;
    this.answer = answer;
    this.#onEnd(this);
  }
}

/** The messages that the hold function reports as failed; everything else must have been handled. */
export function failuresIn(answer: unknown): string[] {
  const failures: unknown = typeof answer === "object" && answer && Reflect.get(answer, "batchItemFailures");
  if (!Array.isArray(failures)) throw new Error("the hold function did not report which messages failed");
  return failures.map((one: { itemIdentifier: string }) => one.itemIdentifier);
}
