import { Command } from "commander";
import { controlOf } from "../control.ts";
import type { Finding } from "../doctor/finding.ts";
import { mend } from "../doctor/fixes.ts";
import { findingJson, findingView, verdictView } from "../doctor/view.ts";
import { awsConfig, type ClusterFlags, withCluster } from "../terminal/cluster-flags.ts";
import { withExamples } from "../terminal/examples.ts";
import { Failure } from "../terminal/failure.ts";
import { asJson, type Output, withOutput } from "../terminal/output-flag.ts";
import type { Terminal } from "../terminal/terminal.ts";

type DoctorOptions = ClusterFlags &
  Readonly<{ output: Output; fix?: true; kubeconfig?: string; context?: string }>;

/** Checks every link of the chain and says what to do about a broken one. */
export const doctor = (terminal: Terminal): Command =>
  withExamples(
    withOutput(withCluster(new Command("doctor")), ["table", "json"])
      .description("Check every link from a launch to a release, and say what to do about a broken one.")
      .option("--fix", "mend what can be mended without harm, then check again")
      .option(
        "--kubeconfig <path>",
        "your own way into the cluster: also compare what is there word for word",
      )
      .option("--context <name>", "the kubeconfig's context (default: its current one)")
      .action((options: DoctorOptions) => check(options, terminal)),
    [
      ["doctor --cluster prod", "check every link, and send a probe the way of a launch"],
      [
        "doctor --cluster prod --kubeconfig ~/.kube/config",
        "also compare role and policy with your own kubeconfig",
      ],
      ["doctor --cluster prod --fix", "also enable and re-arm what was turned off"],
      ["doctor --cluster prod -o json | jq '.findings[] | select(.verdict==\"fail\")'", "for a program"],
    ],
  );

async function ownKubernetes({ kubeconfig, context }: DoctorOptions) {
  if (kubeconfig === undefined) return {};
  const { compareWith } = await import("../doctor/own-kubernetes.ts");
  return { compareManifest: compareWith(kubeconfig, context) };
}

async function check(options: DoctorOptions, terminal: Terminal): Promise<void> {
  const { AwsAccount } = await import("../doctor/aws/aws-account.ts");
  const { examine } = await import("../doctor/examine.ts");
  const { cluster, output } = options;
  const world = {
    cluster,
    ...(await ownKubernetes(options)),
    account: new AwsAccount(awsConfig(options, terminal.env), cluster),
    ask: controlOf(options, terminal.env),
    clock: { now: () => new Date() },
    sleep: (duration: number) => new Promise<void>((resolve) => setTimeout(resolve, duration)),
  };
  const { out, notify, style } = terminal;
  const show = (finding: Finding) => {
    if (output !== "json") for (const line of findingView(finding, style)) out(line);
  };
  let findings = await examine(world, show);
  if (options.fix && findings.some(({ verdict }) => verdict === "fail")) {
    if (await mend(findings, notify)) findings = await examine(world, show);
  }
  if (output === "json") out(asJson({ cluster, findings: findings.map(findingJson) }));
  else out(`\n${verdictView(findings, style)}`);
  const broken = findings.filter(({ verdict }) => verdict === "fail");
  if (broken.length > 0) {
    const names = [...new Set(broken.map(({ link }) => link))].join(", ");
    const canMend = broken.some(({ fix }) => fix) && !options.fix;
    throw new Failure(
      `broken: ${names}`,
      canMend ? "Some of it can be mended by --fix." : "Follow the remedies above.",
    );
  }
}
