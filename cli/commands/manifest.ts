import { Command, Option } from "commander";
import { withExamples } from "../terminal/examples.ts";
import { settingsFrom, withSettings } from "../terminal/setting-flags.ts";
import type { Terminal } from "../terminal/terminal.ts";

type ManifestOptions = Readonly<{ for: "functions" | "run"; karpenter?: string; holdAnnotation?: string }>;

/** Prints what gives the holder its rights in a cluster. */
export const manifest = ({ out }: Terminal): Command => {
  const command = new Command("manifest")
    .description("Print the RBAC rules and the admission policy of the holder.")
    .addOption(
      new Option("--for <holder>", "whose rights; run also watches nodes")
        .choices(["functions", "run"])
        .default("functions"),
    )
    .action(async (options: ManifestOptions) => {
      const { holdAnnotation } = settingsFrom(options, { cluster: "any" });
      const { manifestYaml } = await import("../../lambda/cluster-access/manifest-yaml.ts");
      out(manifestYaml([holdAnnotation], options.for).trimEnd());
    });
  return withExamples(withSettings(command, ["karpenter", "holdAnnotation"]), [
    ["manifest | kubectl apply -f -", "give a deployment with access=manual its rights"],
    ["manifest --karpenter v0.31", "the same for Karpenter up to v0.31"],
    ["manifest --for run | kubectl apply -f -", "rights for the command `run`"],
  ]);
};
