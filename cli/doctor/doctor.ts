import { type Duration, formatDuration } from "../../lambda/core/duration.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import type { Clock } from "../../lambda/core/ports.ts";
import { Environment, SettingEnvironment } from "../../lambda/environment.ts";
import type { Part } from "../../lambda/names.ts";
import type { Account } from "./aws/aws-account.ts";
import type { FunctionFacts } from "./aws/functions.ts";
import { type Findings, type Fix, type Found, fail } from "./finding.ts";
import { type Inside, parseInside } from "./inside.ts";
import type { OwnKubernetes } from "./own-kubernetes.ts";

/** What an examination needs; what only the caller's own kubeconfig can show, where one is given. */
export type Doctor = Partial<OwnKubernetes> &
  Readonly<{
    /** The holder's name: that of its cluster, or its own. */
    cluster: string;
    account: Account;
    clock: Clock;
    sleep: (duration: Duration) => Promise<void>;
  }>;

export const watched = ["hold", "release", "sweep", "control"] as const satisfies readonly Part[];
export type Watched = (typeof watched)[number];
export type Functions = Readonly<Record<Watched, FunctionFacts>>;

/** One link of the chain from a launch to a release, and how it is checked. */
export type Check = Readonly<{
  link: string;
  /** If one of these links is broken, a failure of this one follows from it. */
  follows?: readonly string[];
  /** What is found; nothing where another link reports that a part is missing. */
  find: (facts: Facts) => Findings | Promise<Findings>;
}>;

/** What the checks read: each is read once, when the first check asks for it. */
export type Facts = ReturnType<typeof factsOf>;

export function factsOf(doctor: Doctor, functions: Functions) {
  const { account, findNodePools } = doctor;
  const env = (name: string) => functions.control.env[name] ?? "";
  const [served = ""] = mostFirst(
    Object.values(functions),
    ({ env }) => env[SettingEnvironment.cluster] || doctor.cluster,
  ).map(([name]) => name);
  const ask = (part: Watched) => once(async () => parseInside(await account.invoke(part, { do: "check" })));
  const answers = {
    hold: ask("hold"),
    release: ask("release"),
    sweep: ask("sweep"),
    control: ask("control"),
  } satisfies Record<Watched, unknown>;
  const queue = once(() => account.queue(env(Environment.launchQueueUrl)));
  return {
    doctor,
    /** The EKS cluster that most functions work for: a holder may have another name. */
    cluster: served,
    /** Restores what was removed or changed by hand, which a deploy does not notice. */
    redeploy:
      served === doctor.cluster ? redeploy(served) : inItsApp(doctor.cluster, "cdk deploy --revert-drift"),
    functions,
    /** What the functions' environment says; they all have the same, or that is reported. */
    env,
    answers,
    queue,
    rule: once(async () => {
      const launches = await queue();
      return launches && account.ruleTo(launches.arn);
    }),
    schedules: once(() => account.schedules(env(Environment.scheduleGroup))),
    nodePools: once(async () => findNodePools?.()),
  };
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => {
    reading ??= read();
    return reading;
  };
}

/** All by a value, with the commonest first. */
export const mostFirst = <T>(all: readonly T[], valueIn: (one: T) => string) =>
  [...Map.groupBy(all, valueIn)].toSorted(([, a], [, b]) => b.length - a.length);

/** Only an app with the construct gives a holder a name of its own. */
export const inItsApp = (holder: string, what: string): string =>
  `In the app with the holder ${holder}: ${what}`;

export const redeploy = (cluster: string): string => `cdk deploy -c cluster=${cluster} --revert-drift`;

/** Whether the functions write Events about nodes, which no decision depends on. */
export const hasNodeEvents = ({ mode, nodeEvents }: Inside["rules"]): boolean =>
  mode === "hold" && nodeEvents === "true";

/** Writes our objects in the cluster again, for these settings. */
export function reapply(rules: Inside["rules"]): string {
  const { holdAnnotation, mode, auto, hold } = rules;
  const flags = [
    holdAnnotation === Karpenter.v1.annotation ? "" : ` --hold-annotation ${holdAnnotation}`,
    mode === "observe" ? " --mode observe" : "",
    auto ? "" : ` --hold ${formatDuration(hold)}`,
    hasNodeEvents(rules) ? " --node-events true" : "",
  ];
  return `npx karpenter-node-holder manifest${flags.join("")} | kubectl apply -f -`;
}

export const policiesCame = "Policies came with Kubernetes 1.30.";

export const readLog = ({ name }: Pick<FunctionFacts, "name">): string =>
  `Read its log: aws logs tail /aws/lambda/${name} --since 1h`;

/** A sweep repairs what it can; the same fix of several findings runs once. */
export const sweepNow = ({ account }: Doctor): Fix => ({
  action: "sweep now",
  apply: async () => void (await account.invoke("sweep", {})),
});

/** A rule that is disabled. */
export const turnedOff = ({ account }: Doctor, name: string, what: string): Found =>
  fail(what, `aws events enable-rule --name ${name}`, {
    action: `enable rule ${name}`,
    apply: () => account.enableRule(name),
  });
