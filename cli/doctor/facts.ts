import { Environment } from "../../lambda/environment.ts";
import type { Part } from "../../lambda/names.ts";
import type { FunctionFacts } from "./aws/account.ts";
import type { Doctor } from "./doctor.ts";
import type { Findings, LinkName } from "./finding.ts";
import { type Inside, parseInside } from "./inside.ts";

export const watched = ["hold", "release", "sweep", "control"] as const satisfies readonly Part[];
export type Watched = (typeof watched)[number];
export type Functions = Readonly<Record<Watched, FunctionFacts>>;

/** One thing to check: the link of the chain that it belongs to, and what is found there, with its remedy. */
export type Check = Readonly<{
  link: LinkName;
  /** If one of these links is broken, a failure of this one follows from it. */
  follows?: readonly LinkName[];
  /** Nothing is sent while one of these links is broken. */
  onlyIf?: readonly LinkName[];
  find: (see: Facts) => Findings | Promise<Findings>;
}>;

/** Thrown where a fact is missing that another check reports. */
export class NotThere extends Error {}

export function found<T>(fact: T | undefined): T {
  if (fact === undefined) throw new NotThere("another check reports it");
  return fact;
}

/** When a moment of another clock was taken between two of ours. */
export type Bracket = Readonly<{ before: Date; at: Date; after: Date }>;

/** What a function found out about itself. */
export type Answer = Readonly<{ part: Watched; inside: Inside; bracket: Bracket }>;

/** What the checks read: each is read once, when the first check asks for it. */
export type Facts = ReturnType<typeof factsOf>;

export function factsOf(doctor: Doctor, functions: Functions) {
  const { account, clock } = doctor;
  const env = functions.control.env;
  const group = env[Environment.scheduleGroup] ?? "";
  const ask = (part: Watched) => async (): Promise<Answer> => {
    const before = clock.now();
    const inside = parseInside(await account.invoke(part, { do: "check" }));
    return { part, inside, bracket: { before, at: inside.at, after: clock.now() } };
  };
  const answers = {
    hold: once(ask("hold")),
    release: once(ask("release")),
    sweep: once(ask("sweep")),
    control: once(ask("control")),
  } satisfies Record<Watched, () => Promise<Answer>>;
  return {
    doctor,
    functions,
    env,
    group,
    answers,
    /** Those of the functions that answered, the control function's first, because it must have. */
    async answered(): Promise<readonly [Answer, ...Answer[]]> {
      const control = await answers.control();
      const others = await Promise.allSettled([answers.hold(), answers.release(), answers.sweep()]);
      return [control, ...others.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))];
    },
    rule: once(() => account.launchRule()),
    queue: once(() => account.queue(functions.hold.env[Environment.launchQueueUrl] ?? "")),
    schedules: once(() => account.schedules(group)),
    nodePools: once(async () => doctor.findNodePools?.()),
  };
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => {
    reading ??= read();
    return reading;
  };
}
