import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import type { KubeConfig } from "@kubernetes/client-node";
import { Command, Option } from "commander";
import { defaultSettings, type SettingName } from "../../lambda/settings.ts";
import { withExamples } from "../terminal/examples.ts";
import { settingsFrom, withSettings } from "../terminal/setting-flags.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { untilStopped } from "../terminal/until-stopped.ts";
import { jsonLog, textLog } from "../views/run-log.ts";

type RunOptions = Readonly<{
  kubeconfig: string;
  context?: string;
  data?: string;
  log: "text" | "json";
  releaseOnExit?: true;
}>;

const settings: readonly SettingName[] = ["cluster", ...(Object.keys(defaultSettings) as SettingName[])];
const ownDefaults = { sweepEvery: "1m" } as const;

/** Runs the holder as one process on any cluster. */
export const run = (terminal: Terminal): Command => {
  const command = new Command("run")
    .description(
      "Run the holder as one process on any cluster, without AWS: it watches the nodes, keeps its record on disk " +
        "and survives its own restart. Let only one holder look after a cluster.",
    )
    .summary("Run the holder as one process on any cluster, without AWS.")
    .requiredOption("--kubeconfig <path>", "how to reach the cluster")
    .option("--context <name>", "the kubeconfig's context (default: its current one)")
    .option("--data <folder>", "where to keep the record (default: a folder a cluster in the user's data)")
    .option("--release-on-exit", "release everything when it is stopped")
    .addOption(new Option("--log <form>", "how to log").choices(["text", "json"]).default("text"))
    .action((options: RunOptions) => hold(options, terminal));
  return withExamples(withSettings(command, settings, ownDefaults), [
    ["run --kubeconfig ~/.kube/config --context kind-kind", "hold the nodes of a cluster on this machine"],
    ["run --kubeconfig prod.yaml --hold 30m --scope nodepool", "30 minutes after each launch, by NodePool"],
    ["run --kubeconfig prod.yaml --hold 5m --release-on-exit", "try it and leave nothing behind"],
  ]);
};

async function hold(options: RunOptions, terminal: Terminal): Promise<void> {
  const { clusterNameIn, readKubeconfig } = await import("../../local/run/kubeconfig.ts");
  const config = readKubeconfig({ path: options.kubeconfig, context: options.context });
  const cluster = clusterNameIn(config);
  const chosen = settingsFrom(options, { cluster, ...ownDefaults });
  const folder = options.data ?? join(dataFolder(terminal.env), folderName(config, chosen.cluster));
  const log = options.log === "json" ? jsonLog(terminal, chosen.cluster) : textLog(terminal);

  const { startRun } = await import("../../local/run/run.ts");
  const stopped = untilStopped();
  const running = await startRun({ settings: chosen, config, folder, log });
  log.info("the holder is at work", { cluster: chosen.cluster, record: folder });
  const signal = await stopped;
  log.info("the holder stops and finishes its work", { signal });
  await running.stop({ release: options.releaseOnExit === true });
  log.info("the holder has stopped");
}

/** Clusters of the same name have different addresses, and must not share a record. */
function folderName(config: KubeConfig, cluster: string): string {
  const server = config.getCurrentCluster()?.server ?? "";
  return `${cluster}-${createHash("sha256").update(server).digest("hex").slice(0, 8)}`;
}

const dataFolder = ({ XDG_DATA_HOME }: Terminal["env"]): string =>
  join(XDG_DATA_HOME || join(homedir(), ".local", "share"), "karpenter-node-holder");
