import { Command } from "commander";
import { BadInputError } from "../../lambda/core/errors.ts";
import {
  applyFixes,
  type Finding,
  findingJson,
  findingView,
  verdictView,
  worstOf,
} from "../doctor/finding.ts";
import {
  awsConfig,
  type ClusterFlags,
  inSamePlace,
  onSameCluster,
  withCluster,
} from "../terminal/cluster-flags.ts";
import { Failure } from "../terminal/failure.ts";
import { asData, type Output, withExamples, withOutput } from "../terminal/flags.ts";
import type { Terminal } from "../terminal/terminal.ts";

type DoctorOptions = ClusterFlags &
  Readonly<{ output: Output; fix?: true; strict?: true; kubeconfig?: string; context?: string }>;

/** Checks every step from launch to release and prints remedies. */
export const doctor = (terminal: Terminal): Command =>
  withExamples(
    withOutput(withCluster(new Command("doctor"), terminal), ["table", "json", "yaml"])
      .description("Check every step from launch to release, and print a remedy for each broken one.")
      .option("--fix", "fix what can be fixed safely, then check again")
      .option(
        "--kubeconfig <path>",
        "your own kubeconfig: also compare the rights in the cluster with the manifest, and check NodePools",
      )
      .option("--strict", "end with exit code 1 for warnings, too")
      .option("--context <name>", "the kubeconfig's context (default: its current one)")
      .action((options: DoctorOptions) => {
        // A function that has not answered by the end would be asked again, and keep this process alive for minutes.
        const ended = new AbortController();
        return check(ended.signal, options, terminal).finally(() => ended.abort());
      }),
    [
      ["doctor --cluster prod", "check every step, and send a probe on the way of a launch"],
      [
        "doctor --cluster prod --kubeconfig ~/.kube/config",
        "also compare role and policy, and check the NodePools",
      ],
      ["doctor --cluster prod --fix", "also enable again what was turned off"],
      ["doctor --cluster prod -o json | jq '.findings[] | select(.verdict==\"fail\")'", "for a program"],
      ["doctor --cluster prod --strict", "in CI: exit code 0 only without warnings"],
    ],
  );

async function withOwnRights({ kubeconfig, context }: DoctorOptions) {
  if (kubeconfig === undefined && context !== undefined)
    throw new BadInputError("These flags do not fit", ["--context needs --kubeconfig"]);
  if (kubeconfig === undefined) return {};
  const { ownKubernetes } = await import("../doctor/own-kubernetes.ts");
  return ownKubernetes(kubeconfig, context);
}

async function check(ended: AbortSignal, options: DoctorOptions, terminal: Terminal): Promise<void> {
  const { awsAccount } = await import("../doctor/aws/aws-account.ts");
  const { examine } = await import("../doctor/examine.ts");
  const { cluster, output } = options;
  const world = {
    cluster,
    ...(await withOwnRights(options)),
    account: awsAccount(awsConfig(options, terminal.env), cluster, ended),
    clock: { now: () => new Date() },
    sleep: (duration: number) => new Promise<void>((resolve) => setTimeout(resolve, duration)),
  };
  const { out, notify, style } = terminal;
  const typed = ({ remedy, ...rest }: Finding): Finding => ({
    ...rest,
    remedy: remedy && onSameCluster(inSamePlace(remedy, options), options),
  });
  const show = (finding: Finding) => {
    if (output === "table") for (const line of findingView(typed(finding), style)) out(line);
  };
  let findings = await examine(world, show);
  if (options.fix && findings.some(({ verdict }) => verdict === "fail")) {
    if (await applyFixes(findings, notify)) findings = await examine(world, show);
  }
  const answer = {
    cluster,
    verdict: worstOf(findings),
    findings: findings.map((one) => findingJson(typed(one))),
  };
  out((await asData(answer, output)) ?? `\n${verdictView(findings, style)}`);
  const wrong = findings.filter(
    ({ verdict }) => verdict === "fail" || (options.strict && verdict === "warn"),
  );
  if (wrong.length === 0) return;
  const isBroken = worstOf(wrong) === "fail";
  const canFix = wrong.some(({ fix }) => fix) && !options.fix;
  throw new Failure(
    `${isBroken ? "broken" : "warnings"}: ${[...new Set(wrong.map(({ link }) => link))].join(", ")}`,
    canFix ? "Some of it can be fixed with --fix." : "Follow the remedies above.",
  );
}
