import { Command, Option } from "commander";
import { BadInputError } from "../../lambda/core/errors.ts";
import { holderSettings } from "../../lambda/settings-table.ts";
import { typedFlags, withExamples } from "../terminal/flags.ts";
import { isSetting, runDefaults, settingsFrom, withSettings } from "../terminal/setting-flags.ts";
import type { Terminal } from "../terminal/terminal.ts";

type ManifestOptions = Readonly<{ holder: "functions" | "run"; inCluster?: true; image?: string }>;

/** The settings that decide on the rights; the others are for the Deployment. */
const ofRights: ReadonlySet<string> = new Set(["karpenter", "holdAnnotation", "letGo"]);

/** Prints what gives the holder its rights in a cluster, or what runs it there. */
export const manifest = (terminal: Terminal): Command => {
  const command = new Command("manifest")
    .description(
      "Print the RBAC rules and the admission policy of the holder; with --in-cluster, everything that runs it in the " +
        "cluster without AWS, with these settings.",
    )
    .summary("Print the RBAC rules and the admission policy of the holder.")
    .addOption(
      new Option("--holder <kind>", "whose rights; run also watches nodes")
        .choices(["functions", "run"])
        .default("functions"),
    )
    .addOption(
      new Option(
        "--in-cluster",
        "print namespace, service account, rights, volume claim and Deployment of `run`",
      ).conflicts("holder"),
    )
    .option("--image <image>", "with --in-cluster: an image that has this package (required)")
    .action((options: ManifestOptions, itself: Command) => print(options, itself, terminal));
  return withExamples(withSettings(command, holderSettings, runDefaults), [
    ["manifest | kubectl apply -f -", "give a deployment with access=manual its rights"],
    ["manifest --karpenter v0.31", "the same for Karpenter up to v0.31"],
    ["manifest --let-go empty", "with the right to list pods, which letGo=empty needs"],
    ["manifest --holder run | kubectl apply -f -", "rights for the command `run`"],
    [
      "manifest --in-cluster --image IMAGE --cluster prod --hold 30m | kubectl apply -f -",
      "run the holder in the cluster, without AWS",
    ],
  ]);
};

async function print(options: ManifestOptions, itself: Command, { out }: Terminal): Promise<void> {
  const { inCluster, image } = options;
  const { settings } = settingsFrom(options, inCluster ? runDefaults : { cluster: "any" });
  const { holdAnnotation: annotation, letGo } = settings;
  if (inCluster) {
    if (!image) throw unfit("--in-cluster needs --image: an image that has this package");
    const flags = typedFlags(itself, (option) => isSetting(option.attributeName()));
    const { inClusterManifest } = await import("../manifest/in-cluster.ts");
    return out(inClusterManifest({ annotation, letGo, image, flags }).trimEnd());
  }
  const ofRun = typedFlags(itself, (option) => {
    const name = option.attributeName();
    return name === "image" || (isSetting(name) && !ofRights.has(name));
  });
  if (ofRun.length > 0) throw unfit(`${ofRun[0]} needs --in-cluster`);
  const { manifestYaml } = await import("../../lambda/cluster-access/manifest-yaml.ts");
  out(manifestYaml([annotation], { rightsFor: options.holder, letGo }).trimEnd());
}

const unfit = (problem: string) => new BadInputError("These flags do not fit", [problem]);
