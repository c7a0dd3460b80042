import * as v from "valibot";
import { messageOf, TryAgainError } from "../../../lambda/core/errors.ts";
import type { KubernetesCall, KubernetesCaller } from "../../../lambda/kubernetes/client.ts";
import { explained, KubernetesError, meaningOf, statusIn } from "../../../lambda/kubernetes/error.ts";
import { mostAttempts } from "../../../lambda/kubernetes/transport.ts";
import { EngineError, type EngineProcess } from "../engine-process.ts";
import type { EngineLaunch } from "./instances.ts";

const time = v.pipe(v.number(), v.finite());
const turnSchema = v.object({
  now: time,
  launches: v.optional(
    v.nullable(v.array(v.object({ instance: v.string(), nodePool: v.string(), launchedAt: time }))),
    [],
  ),
  gone: v.optional(v.nullable(v.array(v.string())), []),
});
const answerSchema = v.object({ id: v.number(), status: v.number(), body: v.optional(v.unknown()) });

/** What the engine reports when it is our turn. */
export type Turn = Readonly<{
  now: Date;
  launches: readonly EngineLaunch[];
  gone: readonly string[];
}>;

/** Who plays the turns: the holder on its clock. */
export type Player = Readonly<{
  /** Does everything that is due at this moment. */
  play: (turn: Turn) => Promise<void>;
  /** The moment of the next action; undefined when there is none. */
  next: () => Date | undefined;
}>;

type Answer = v.InferOutput<typeof answerSchema>;
type Waiting = Readonly<{ resolve: (answer: Answer) => void; reject: (error: Error) => void }>;

const noLogin = { server: "", tls: {}, headers: {} };

/**
 * Plays with an engine whose time stands still while it is our turn: answers to our calls come at once, and virtual time
 * passes only until the moment that we name, or until something happens.
 */
export class LockStep implements KubernetesCaller {
  readonly #engine: EngineProcess;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;
  #turns = 0;
  #isOurs = false;
  #last: Date | undefined;
  #next: Date | undefined;
  #failure: unknown;

  constructor(engine: EngineProcess) {
    this.#engine = engine;
  }

  get counts() {
    return { turns: this.#turns, calls: this.#calls };
  }

  /** Plays every turn; returns the engine's last line, the result. Any line that does not fit is an error. */
  async run(player: Player, onProgress: (line: unknown) => void): Promise<unknown> {
    let result: unknown;
    try {
      for await (const line of this.#engine.lines()) {
        if ("progress" in line) onProgress(line.progress);
        else if ("result" in line) result = this.#end(line.result);
        else if ("now" in line) void this.#play(player, this.#begin(line));
        else if ("id" in line) this.#answer(line);
        else throw new EngineError(`the engine printed a line without meaning: ${brief(line)}`);
      }
      if (this.#failure !== undefined) throw this.#failure;
      if (result === undefined) throw this.#engine.endedBefore("its result");
      return result;
    } catch (error) {
      for (const { reject } of this.#waiting.values()) reject(new EngineError("the engine has ended"));
      throw this.#failure ?? error;
    } finally {
      await this.#engine.stop();
    }
  }

  /** Sends a call to the engine's API server; errors are those of the client. */
  async call(call: KubernetesCall): Promise<unknown> {
    const { ignoresAnswer, ...request } = call;
    const name = `${call.method} ${call.path}`;
    for (let attempt = 1; ; attempt++) {
      const { status, body } = await this.#send(request);
      if (status >= 200 && status < 300) return ignoresAnswer ? undefined : body;
      const error = new KubernetesError(name, status, statusIn(JSON.stringify(body ?? {}), noLogin));
      const isTransient = ["retry", "throttled"].includes(meaningOf(status, call.method));
      if (!isTransient) throw explained(error);
      if (attempt === mostAttempts)
        throw new TryAgainError(`${name} failed ${attempt} times: ${messageOf(error)}`, { cause: error });
    }
  }

  #send(request: Omit<KubernetesCall, "ignoresAnswer">): Promise<Answer> {
    if (!this.#isOurs)
      throw new EngineError(`${request.method} ${request.path} was called while time passes`);
    this.#calls += 1;
    const id = this.#calls;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#waiting.set(id, { resolve, reject });
    this.#engine.send({ id, ...request });
    return promise;
  }

  #answer(line: unknown): void {
    const answer = parsed(answerSchema, line);
    this.#waiting.get(answer.id)?.resolve(answer);
    this.#waiting.delete(answer.id);
  }

  /** Checks that this turn is the one that must come now. */
  #begin(line: unknown): Turn {
    const { now: milliseconds, launches, gone } = parsed(turnSchema, line);
    const now = new Date(milliseconds);
    if (this.#isOurs) throw new EngineError("a turn began before the last one was done");
    if (this.#last && now < this.#last)
      throw new EngineError(`time went back, from ${this.#last.toISOString()} to ${now.toISOString()}`);
    if (this.#next && now > this.#next)
      throw new EngineError(
        `a turn was lost: the next was to begin at ${this.#next.toISOString()}, not at ${now.toISOString()}`,
      );
    this.#isOurs = true;
    this.#turns += 1;
    this.#last = now;
    return { now, launches: launches ?? [], gone: gone ?? [] };
  }

  async #play({ play, next }: Player, turn: Turn): Promise<void> {
    try {
      await play(turn);
      // Calls that nothing awaits, and what their answers made due.
      while (this.#waiting.size > 0 || (next() ?? after(turn)) <= turn.now) {
        await new Promise(setImmediate);
        await play({ ...turn, launches: [], gone: [] });
      }
      this.#next = next();
      this.#isOurs = false;
      this.#engine.send({ done: true, next: this.#next?.getTime() ?? null });
    } catch (error) {
      this.#failure = error;
      await this.#engine.stop();
    }
  }

  #end(result: unknown): unknown {
    if (this.#isOurs) throw new EngineError("the engine ended while it was our turn");
    return result;
  }
}

const after = ({ now }: Turn): Date => new Date(now.getTime() + 1);

const brief = (line: unknown): string => JSON.stringify(line).slice(0, 200);

function parsed<S extends v.GenericSchema>(schema: S, line: unknown): v.InferOutput<S> {
  const { success, output, issues } = v.safeParse(schema, line);
  if (success) return output;
  throw new EngineError(`the engine printed ${brief(line)}: ${v.summarize(issues)}`);
}
