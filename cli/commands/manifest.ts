import { Command, Option } from "commander";
import { writesNodeEvents } from "../../lambda/core/rules.ts";
import { holderSettings } from "../../lambda/settings-table.ts";
import { withExamples } from "../terminal/flags.ts";
import { settingsFrom, withSettings } from "../terminal/setting-flags.ts";
import type { Terminal } from "../terminal/terminal.ts";

type ManifestOptions = Readonly<{ holder: "functions" | "run" }>;

/** The settings that decide on the rights. */
const { hold, karpenter, holdAnnotation, mode, nodeEvents } = holderSettings;

/** Prints what gives the holder its rights in a cluster. */
export const manifest = (terminal: Terminal): Command => {
  const command = new Command("manifest")
    .description("Print the RBAC rules and the admission policy of the holder.")
    .addOption(
      new Option("--holder <kind>", "whose rights; run also watches nodes")
        .choices(["functions", "run"])
        .default("functions"),
    )
    .action((options: ManifestOptions) => print(options, terminal));
  return withExamples(withSettings(command, { mode, hold, karpenter, holdAnnotation, nodeEvents }), [
    ["manifest | kubectl apply -f -", "give a deployment with access=manual its rights"],
    ["manifest --karpenter v0.31", "the same for Karpenter up to v0.31"],
    ["manifest --mode observe", "without the right to change nodes, for a holder that only observes"],
    ["manifest --hold 20m", "without the right to list pods, which hold=auto needs"],
    ["manifest --node-events true", "with the right to write Events about nodes"],
    ["manifest --holder run | kubectl apply -f -", "rights for the command `run`"],
  ]);
};

async function print(options: ManifestOptions, { out }: Terminal): Promise<void> {
  const { settings } = settingsFrom(options, { cluster: "any" });
  const { manifestYaml } = await import("../../local/run/manifest-yaml.ts");
  const { holdAnnotation: annotation, mode, auto } = settings;
  const rights = { mode, auto, nodeEvents: writesNodeEvents(settings) };
  out(manifestYaml(annotation, { rightsFor: options.holder, ...rights }).trimEnd());
}
