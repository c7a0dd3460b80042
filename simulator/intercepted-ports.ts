import type { Ports } from "../lambda/core/ports.ts";

/** Runs before, instead of or around every call of a port. */
export type Around = <T>(call: string, effect: () => Promise<T>) => Promise<T>;

/** What the ports of the simulated world are made of. */
export type Stores = Readonly<{
  holds: Ports["holds"];
  journal: Ports["journal"];
  ec2: Ports["launches"];
  oneShots: Ports["schedules"];
  queue: Ports["followUps"];
}>;

type Intercepted = Pick<Ports, "holds" | "journal" | "launches" | "schedules" | "followUps">;

/** The ports of the simulated world, with every call of theirs under the model's control. */
export function interceptedPorts(stores: Stores, around: Around): Intercepted {
  return {
    holds: intercepted<Ports["holds"]>(stores.holds, { find: "find", all: "all", write: "write" }, around),
    journal: intercepted<Ports["journal"]>(
      stores.journal,
      {
        remember: "remember",
        history: "history",
        noteSweep: "noteSweep",
        lastSweep: "lastSweep",
        answerProbe: "answerProbe",
        findProbe: "findProbe",
      },
      around,
    ),
    launches: intercepted<Ports["launches"]>(stores.ec2, { find: "instances", since: "launches" }, around),
    schedules: intercepted<Ports["schedules"]>(stores.oneShots, { arm: "arm" }, around),
    followUps: intercepted<Ports["followUps"]>(stores.queue, { enqueue: "enqueue" }, around),
  };
}

/** A port of the same kind whose calls all go through `around`, under the names given. */
function intercepted<Port extends object>(
  port: Port,
  names: Readonly<Record<keyof Port, string>>,
  around: Around,
): Port {
  const calls = Object.entries(names).map(([method, name]) => {
    const effect = Reflect.get(port, method) as (...args: unknown[]) => Promise<unknown>;
    return [method, (...args: unknown[]) => around(String(name), () => effect.apply(port, args))];
  });
  return Object.fromEntries(calls);
}
