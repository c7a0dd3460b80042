import { resolve } from "node:path";
import type { KubeConfig } from "@kubernetes/client-node";
import { Command, Option } from "commander";
import { runSettings } from "../../infra/settings/deployment.ts";
import { type Duration, formatDuration, minutes, seconds } from "../../lambda/core/duration.ts";
import { BadInputError, messageOf } from "../../lambda/core/errors.ts";
import type { Log } from "../../lambda/core/ports.ts";
import type { Settings } from "../../lambda/settings.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { PrometheusMetrics, serveMetrics } from "../../local/metrics/prometheus.ts";
import { RecordInUseError } from "../../local/run/rights.ts";
import type { Run } from "../../local/run/run.ts";
import { folderOf } from "../control/running.ts";
import { Failure } from "../terminal/failure.ts";
import { countFlag, programOf, typedFlags, withExamples } from "../terminal/flags.ts";
import { runDefaults, settingsFrom, withSettings } from "../terminal/setting-flags.ts";
import { Exit, type Terminal, untilStopped } from "../terminal/terminal.ts";
import { quoted } from "../terminal/text.ts";
import { whatReleased } from "../views/done.ts";
import { jsonLog, textLog } from "../views/run-log.ts";

type Flags = Readonly<{
  kubeconfig?: string;
  context?: string;
  data?: string;
  cluster?: string;
  holdAnnotation?: string;
  log: "text" | "json";
  releaseOnExit?: true;
  releaseOnly?: true;
  takeOver?: true;
  observe?: true;
  mode?: string;
  page?: number | true;
  metricsPort?: number;
  metricsHost?: string;
}>;

/** Supervisors kill a process that has not ended after ten seconds, Kubernetes after thirty. */
const longestStop = seconds(8);
/** The pass under way may take two minutes, and a release of thousands of nodes one. */
const longestRelease = minutes(3);
/** Flags that are left out of the printed command with --release-only. */
const notForReleasing: ReadonlySet<string> = new Set([
  ...["--release-on-exit", "--release-only", "--take-over", "--observe", "--hold-during"],
  ...["--log", "--page", "--metrics-port", "--metrics-host"],
]);

/** Flags that are left out of the printed command that holds. */
const notForHolding: ReadonlySet<string> = new Set(["--observe", "--mode"]);

/** Runs the holder as one process on any cluster. */
export const run = (terminal: Terminal): Command => {
  const command = new Command("run")
    .description(
      "Run the holder as one process on any cluster, without AWS: it watches the nodes, keeps its record on disk " +
        "and survives its own restart. Let only one holder work on a cluster.",
    )
    .summary("Run the holder as one process on any cluster, without AWS.")
    .option(
      "--kubeconfig <path>",
      "how to reach the cluster (default: $KUBECONFIG, then ~/.kube/config, then the Pod's service account)",
    )
    .option("--context <name>", "the kubeconfig's context (default: its current one)")
    .option(
      "--data <folder>",
      "where to keep the record (default: one folder for each cluster, in the user's data)",
    )
    .option("--observe", "change no node, and show what would be held: the same as --mode observe")
    .option("--release-on-exit", "release everything when it is stopped")
    .option("--release-only", "remove every mark, and end; needs neither record nor settings")
    .option("--take-over", "start also where another holder seems to work, and release or hold its nodes")
    .addOption(
      new Option("--page [port]", "show what happens on a local page; port 0, or none: any port").argParser(
        countFlag(0, 65_535),
      ),
    )
    .addOption(
      new Option(
        "--metrics-port <port>",
        "serve metrics to Prometheus at /metrics, and /healthz and /readyz; 0 takes any port",
      ).argParser(countFlag(0, 65_535)),
    )
    .option("--metrics-host <address>", "where to serve metrics (default: 127.0.0.1, this machine only)")
    .addOption(new Option("--log <form>", "how to log").choices(["text", "json"]).default("text"))
    .action((options: Flags, itself: Command) => hold(options, itself, terminal));
  return withExamples(withSettings(command, runSettings, runDefaults), [
    ["run --kubeconfig ~/.kube/config --context kind-kind", "hold the nodes of a cluster on this machine"],
    ["run --kubeconfig prod.yaml --hold 30m --scope nodepool", "30 minutes after each launch, by NodePool"],
    ["run --kubeconfig prod.yaml --hold 5m --release-on-exit", "try it and leave nothing behind"],
    ["run --observe --page 8080", "show what would be held, and change no node"],
    [
      'run --hold-during "cron(0 8 ? * MON-FRI *) Europe/Berlin 2h"',
      "hold in a window, too; semicolons separate several",
    ],
    ["run --page 8080", "show it on http://127.0.0.1:8080/"],
    ["run --metrics-port 9100", "serve metrics on http://127.0.0.1:9100/metrics"],
    ["run --kubeconfig prod.yaml --release-only", "release what a stopped run has left held"],
  ]);
};

async function hold(options: Flags, itself: Command, terminal: Terminal): Promise<void> {
  const { clusterNameIn } = await import("../../local/run/kubeconfig.ts");
  const { findCluster, podContext } = await import("../../local/run/find-cluster.ts");
  if (options.metricsHost !== undefined && options.metricsPort === undefined)
    throw new BadInputError("These flags do not fit", ["--metrics-host needs --metrics-port"]);
  if (options.observe && options.mode !== undefined && options.mode !== "observe")
    throw new BadInputError("These flags do not fit", [`--observe and --mode ${options.mode}`]);
  const config = findCluster({ path: options.kubeconfig, context: options.context, env: terminal.env });
  const context = config.getCurrentContext();
  const isPod = context === podContext;
  // Where a printed command is typed, another folder or context may be the current one, and a Pod may be gone.
  const [flag, value] = isPod ? ["kubeconfig", "FILE"] : ["context", context];
  itself.setOptionValueWithSource(flag, value, "cli");
  for (const name of ["kubeconfig", "data"] as const)
    if (options[name] && !isPod) itself.setOptionValueWithSource(name, resolve(options[name]), "cli");
  // A record of a Pod is there alone.
  const isForReleasing = (name: string) => !notForReleasing.has(name) && !(isPod && name === "--data");
  const freeing = `${again(itself, isForReleasing)} --release-only`;
  const cluster = clusterNameIn(config);
  if (options.releaseOnly) return releaseOnly(config, options, { terminal, freeing });
  const given = options.observe ? { ...options, mode: "observe" } : options;
  const { settings: chosen, windows } = settingsFrom(given, { cluster, ...runDefaults });
  const server = config.getCurrentCluster()?.server ?? "";
  const folder = options.data ?? folderOf(chosen.cluster, server, terminal.env);
  const log = options.log === "json" ? jsonLog(terminal, chosen.cluster) : textLog(terminal);
  const release = options.releaseOnExit === true;

  const { openRun } = await import("../../local/run/run.ts");
  const metrics = new PrometheusMetrics(chosen.cluster);
  const toHold = chosen.mode === "observe" && { toHold: again(itself, (name) => !notForHolding.has(name)) };
  const kept = { settings: chosen, windows, config, folder, log, metrics, release: freeing, ...toHold };
  const takeOver = options.takeOver === true;
  const run = await openRun({ ...kept, takeOver }).catch((error: unknown) => {
    if (!(error instanceof RecordInUseError))
      log.warn("nodes may stay held until the holder runs again", { release: freeing });
    throw error;
  });
  const stopped = untilStopped(() => terminal.notify(mayStayHeld(freeing)));
  let ending: NodeJS.Timeout | undefined;
  void stopped.then(() => {
    run.stopWaiting();
    // What cannot be finished in time is done by the next start, as after a crash.
    ending = endAfter(release ? longestRelease : longestStop, { run, freeing, terminal });
  });
  try {
    const isAtWork = await run.start([
      () => serve("page", log, () => startPage(run, chosen, options.page)),
      () => serve("metrics", log, () => startMetrics({ metrics, run }, options)),
    ]);
    const operate = `${programOf(itself)} status --run ${quoted(folder)}`;
    if (isAtWork)
      log.info("the holder is at work", { cluster: chosen.cluster, record: folder, operate, ...toHold });
    const reason = await Promise.race([stopped, run.lost]);
    log.info("the holder stops and finishes its work", { because: reason ?? "another run has taken over" });
    await run.stop({ release: release && isAtWork && reason !== undefined });
    log.info("the holder has stopped");
    if (!reason)
      throw new Failure("another run works on this cluster now", "Let only one work on a cluster.");
  } finally {
    clearTimeout(ending);
  }
}

/** Releases by the marks alone. The record ends, too, where there is one. */
async function releaseOnly(
  config: KubeConfig,
  { log: form, data, cluster: named, holdAnnotation: annotation }: Flags,
  { terminal, freeing }: Readonly<{ terminal: Terminal; freeing: string }>,
): Promise<void> {
  const { endRecorded, releaseMarks } = await import("../../local/run/release-marks.ts");
  const { clusterNameIn } = await import("../../local/run/kubeconfig.ts");
  const cluster = named ?? clusterNameIn(config);
  const server = config.getCurrentCluster()?.server ?? "";
  const folder = data ?? folderOf(cluster, server, terminal.env);
  const log = form === "json" ? jsonLog(terminal, cluster) : textLog(terminal);
  log.info("removing every mark", { cluster, server });
  await endRecorded(folder, { log, reason: "the holder was stopped" });
  const done = await releaseMarks({ config, log, annotation });
  log.info("nodes released", { ...done });
  const { failure } = whatReleased({ ...done, because: "" }, {});
  if (failure) throw new Failure(failure.message, `Try again: ${freeing}`);
}

const mayStayHeld = (freeing: string) => `Nodes may stay held. This releases all of them: ${freeing}`;

type Ending = Readonly<{ run: Run; freeing: string; terminal: Pick<Terminal, "notify"> }>;

/** Ends the process if it is still there by then. */
function endAfter(limit: Duration, { run, freeing, terminal: { notify } }: Ending): NodeJS.Timeout {
  const end = async () => {
    await run.reportHeld(0).catch(() => {});
    notify(`error: what was under way did not end within ${formatDuration(limit)}`);
    notify(`The next start continues it. ${mayStayHeld(freeing)}`);
    process.exit(Exit.failed);
  };
  return setTimeout(end, limit);
}

type Served = Readonly<{ url: string; stop: () => Promise<void> }>;

/** Starts the server of the page or of metrics, where its flag asks for it. */
async function serve(what: "page" | "metrics", log: Log, start: () => Promise<Served | undefined>) {
  const [name, verb, flags] = {
    page: ["the page", "is", "--page"],
    metrics: ["metrics", "are", "--metrics-port, --metrics-host"],
  }[what];
  try {
    const server = await start();
    if (server) log.info(`${name} ${verb} served`, { url: server.url });
    return server;
  } catch (error) {
    throw new Failure(
      `${name} cannot be served: ${messageOf(error)}`,
      `Change this, or leave it out: ${flags}.`,
    );
  }
}

/** Serves the page, on loopback alone. */
async function startPage({ timeline: events }: Run, settings: Settings, port: Flags["page"]) {
  if (port === undefined) return undefined;
  const { LivePage } = await import("../../local/page/live-page.ts");
  const { cluster, hold, auto, mode } = settings;
  const observes = mode === "observe";
  const holds = observes ? "With mode=hold, each launch would hold" : "Each launch holds";
  const long = auto ? "while that pays" : `for ${formatDuration(hold)}`;
  const about = `${holds} the nodes of ${cluster} ${long}.`;
  const options = { events, clock: systemClock, title: `The holder of ${cluster}`, about, observes };
  return LivePage.start(options, port === true ? 0 : port);
}

async function startMetrics(
  { metrics, run }: Readonly<{ metrics: PrometheusMetrics; run: Run }>,
  { metricsPort: port, metricsHost: host }: Flags,
) {
  if (port === undefined) return undefined;
  const text = () => {
    run.measure();
    return metrics.text();
  };
  return serveMetrics({ metrics: { text }, health: run, port, host });
}

/** The same command line again, with the flags that are meant. */
function again(itself: Command, isMeant: (flag: string) => boolean): string {
  const words = typedFlags(itself, ({ long = "" }) => isMeant(long)).map(quoted);
  return [programOf(itself), itself.name(), ...words].join(" ");
}
