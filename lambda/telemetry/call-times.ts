import type { Clock } from "../core/ports.ts";
import type { KubernetesCaller } from "../kubernetes/client.ts";

/** Calls of one kind: their number, and when the first began and the last ended, in milliseconds of the invocation. */
export type CallTime = Readonly<{ count: number; from: number; to: number }>;

type AwsMiddleware = <In, Out>(
  next: (input: In) => Promise<Out>,
  context: Readonly<{ commandName?: string }>,
) => (input: In) => Promise<Out>;
type AwsClient = Readonly<{
  middlewareStack: { add(middleware: AwsMiddleware, options: { step: "initialize" }): void };
}>;

/** Records the calls of an invocation and their times, so that its log shows what a slow one waited for. */
export class CallTimes {
  readonly #clock: Clock;
  readonly #times = new Map<string, CallTime>();
  #began: Date;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#began = clock.now();
  }

  /** Begins an invocation, and forgets the calls of the last one. */
  begin(): void {
    this.#times.clear();
    this.#began = this.#clock.now();
  }

  /** The calls that have ended since the invocation began, by name. */
  reported(): Readonly<{ began: Date; calls: Readonly<Record<string, CallTime>> }> {
    return { began: this.#began, calls: Object.fromEntries(this.#times) };
  }

  async time<T>(name: string, call: () => Promise<T>): Promise<T> {
    const begun = this.#clock.now();
    try {
      return await call();
    } finally {
      this.#note(name, begun.getTime() - this.#began.getTime());
    }
  }

  /** The same client, with each of its commands timed. */
  ofAws<C extends AwsClient>(client: C): C {
    const timed: AwsMiddleware =
      (next, { commandName = "AWS" }) =>
      (input) =>
        this.time(commandName.replace(/Command$/, ""), () => next(input));
    client.middlewareStack.add(timed, { step: "initialize" });
    return client;
  }

  /** The same caller, with its calls timed by method. */
  ofKubernetes(api: KubernetesCaller): KubernetesCaller {
    return {
      call: (call, context) => this.time(`Kubernetes ${call.method}`, () => api.call(call, context)),
    };
  }

  #note(name: string, from: number): void {
    const to = this.#clock.now().getTime() - this.#began.getTime();
    const same = this.#times.get(name);
    this.#times.set(name, {
      count: (same?.count ?? 0) + 1,
      from: Math.min(same?.from ?? from, from),
      to,
    });
  }
}
