import { Option } from "commander";

/** The flag that has a request tried: the cluster checks every change and keeps none. */
export const dryRunFlag = (): Option =>
  new Option("--dry-run", "show what this would do, checked by the cluster, and change nothing");

type Request = Readonly<Record<string, unknown>>;

/** The request itself, or the wish to try it. */
export const dryRunOf = ({ dryRun }: Readonly<{ dryRun?: true }>, request: Request): Request =>
  dryRun ? { do: "dry run", request } : request;

export const nothingChanged = "This was a dry run: nothing was changed.";
