import type { Part } from "../../infra/names.ts";
import { type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import type { Clock } from "../../lambda/core/ports.ts";
import { Environment, SettingEnvironment } from "../../lambda/environment.ts";
import type { Account, FunctionFacts } from "./aws/aws-account.ts";
import { type Findings, type Fix, type Found, fail } from "./finding.ts";
import { parseInside } from "./inside.ts";
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
export type Functions = Readonly<Record<(typeof watched)[number], FunctionFacts>>;

/** How each link of the chain from a launch to a release is checked. Nothing is found where another link reports it. */
export type Checks = Readonly<Record<string, (facts: Facts) => Promise<Findings>>>;

/** What several checks read, each once. A check that waits for it reports it when it cannot be read. */
export type Facts = ReturnType<typeof factsOf>;

export function factsOf(doctor: Doctor, functions: Functions) {
  const { account, cluster: holder } = doctor;
  /** What the functions' environment says; they all have the same, or that is reported. */
  const env = (name: string) => functions.control.env[name] ?? "";
  /** The EKS cluster that the functions work for: a holder may have another name. */
  const cluster = env(SettingEnvironment.cluster) || holder;
  const ask = async (part: Part) => parseInside(await account.invoke(part, { do: "check" }));
  const queue = account.queue(env(Environment.launchQueueUrl));
  return {
    ...{ ...doctor, holder, functions, env, cluster, queue },
    answers: { hold: ask("hold"), release: ask("release"), sweep: ask("sweep"), control: ask("control") },
    rule: queue.then((launches) => launches && account.ruleTo(launches.arn)),
    schedules: account.schedules(env(Environment.scheduleGroup)),
  };
}

/** Restores what was removed or changed by hand, which a deploy does not notice. */
export const redeploy = (holder: string, cluster: string): string =>
  // Only an app with the construct gives a holder a name of its own.
  cluster === holder
    ? `npx cdk deploy -c cluster=${cluster} --revert-drift, with your other settings; ` +
      "without the CDK: a change set of the stack with --deployment-mode REVERT_DRIFT"
    : `In the app with the holder ${holder}: npx cdk deploy --revert-drift`;

export const policiesCame = "Policies came with Kubernetes 1.30.";

/** A sweep may take five minutes, where there is most to repair; invoked again before that, several would run at once. */
const longestSweep: Duration = minutes(5) + seconds(10);

/** A sweep repairs what it can; the same fix of several findings runs once. */
export const sweepNow = ({ account }: Pick<Facts, "account">): Fix => ({
  action: "sweep now",
  apply: () => account.invoke("sweep", {}, longestSweep),
});

/** A rule that is disabled. */
export const turnedOff = ({ account }: Facts, name: string, what: string): Found =>
  fail(what, `aws events enable-rule --name ${name}`, {
    action: `enable rule ${name}`,
    apply: () => account.enableRule(name),
  });
