import { type Duration, formatDuration, hours, minutes, parseDuration } from "./core/duration.ts";
import { BadInputError } from "./core/errors.ts";
import { isAnnotationKey } from "./core/marks/annotation-key.ts";
import { Karpenter, type KarpenterGeneration } from "./core/marks/keys.ts";
import type { Rules } from "./core/rules.ts";
import type { NodePoolFilter } from "./core/scope.ts";

/** What a user sets, read and checked; the same wherever it came from. */
export type Settings = Rules &
  Readonly<{ karpenter: KarpenterGeneration; holdAnnotation: string; sweepEvery: Duration }>;

/** Settings as text, the way context, environment and flags bring them. */
export type RawSettings = Readonly<Partial<Record<SettingName, unknown>>>;

export const defaultSettings = {
  hold: "20m",
  relaunchCost: "10m",
  maxHold: "2h",
  breather: "10m",
  initialDelay: "0s",
  scope: "cluster",
  nodePools: "",
  replacements: "ignore",
  extendOn: "use",
  karpenter: "v1",
  holdAnnotation: "",
  sweepEvery: "5m",
} as const;
export type SettingName = "cluster" | keyof typeof defaultSettings;
type DurationSetting = "hold" | "relaunchCost" | "maxHold" | "breather" | "initialDelay" | "sweepEvery";

const clusterName = /^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/;
const poolName = /^!?[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/;

/** Reads all settings and reports every problem at once; those left out have their defaults. */
export function checkSettings(raw: RawSettings): { settings: Settings; problems: readonly string[] } {
  const problems: string[] = [];
  const text = (name: SettingName): string => {
    const fallback = name === "cluster" ? "" : defaultSettings[name];
    const value = raw[name];
    if (value === undefined || value === null || value === "") return fallback;
    if (typeof value === "string") return value.trim();
    if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join(",");
    problems.push(`${name} must be text, not ${JSON.stringify(value)}`);
    return fallback;
  };
  const refuse = (name: SettingName, value: string, expected: string) =>
    problems.push(`${name} must be ${expected}, not "${value}"`);

  const isAuto = text("hold") === "auto";
  const duration = (name: DurationSetting, least: Duration, most: Duration, zeroMeans?: string): Duration => {
    const value = text(name);
    const read = parseDuration(value);
    if (read !== undefined && ((read >= least && read <= most) || (zeroMeans && read === 0))) return read;
    const or = zeroMeans ? `, or 0s ${zeroMeans}` : "";
    const range = `a duration from ${formatDuration(least)} to ${formatDuration(most)}${or}, like 90s, 20m or 2h`;
    refuse(name, value, name === "hold" ? `auto, or ${range}` : range);
    // What depends on an unreadable setting is checked against its default, so that all problems are reported at once.
    return parseDuration(defaultSettings[name]) ?? least;
  };
  const choice = <T extends string>(name: SettingName, allowed: readonly T[]): T | undefined => {
    const value = text(name);
    const chosen = allowed.find((one) => one === value);
    if (chosen === undefined) refuse(name, value, allowed.join(" or "));
    return chosen;
  };

  const cluster = text("cluster");
  if (!clusterName.test(cluster)) {
    if (cluster === "") problems.push("cluster is missing: give the name of the EKS cluster");
    else refuse("cluster", cluster, "an EKS cluster's name (letters, digits, - and _, at most 100)");
  }
  const length = isAuto ? undefined : duration("hold", minutes(1), hours(24));
  const maxHold = duration("maxHold", minutes(1), hours(24 * 7), "for no cap");
  const breather = duration("breather", 0, hours(24));
  const initialDelay = duration("initialDelay", 0, minutes(15));
  const sweepEvery = duration("sweepEvery", minutes(1), hours(1));
  const relaunchCost = duration("relaunchCost", minutes(1), hours(24));
  if (raw.relaunchCost && !isAuto) problems.push("relaunchCost has an effect with hold=auto only");
  // Before anything is known, a hold lasts as long as a relaunch is worth.
  const hold = length ?? Math.min(relaunchCost, maxHold || relaunchCost);
  if (maxHold > 0 && maxHold < hold)
    refuse("maxHold", text("maxHold"), `at least hold (${formatDuration(hold)}), or 0s`);
  if (initialDelay >= hold && hold > 0) {
    refuse("initialDelay", text("initialDelay"), `shorter than hold (${formatDuration(hold)})`);
  }
  if (sweepEvery % minutes(1) !== 0) refuse("sweepEvery", text("sweepEvery"), "a whole number of minutes");

  const scope = choice("scope", ["cluster", "nodepool"]) ?? "cluster";
  const karpenter = choice("karpenter", ["v1", "v0.31"]) ?? "v1";
  const holdAnnotation = text("holdAnnotation") || Karpenter[karpenter].annotation;
  if (!isAnnotationKey(holdAnnotation)) {
    refuse(
      "holdAnnotation",
      holdAnnotation,
      "an annotation key with a prefix, like karpenter.sh/do-not-disrupt",
    );
  }
  const pools = text("nodePools")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  for (const pool of pools) {
    if (!poolName.test(pool))
      refuse("nodePools", pool, "NodePool names separated by commas, with ! before those to leave out");
  }

  const replacements = choice("replacements", ["ignore", "hold"]) ?? "ignore";
  const extendOn = choice("extendOn", ["use", "launches"]) ?? "use";
  const durations = { hold, maxHold, breather, initialDelay, ...(isAuto && { auto: { relaunchCost } }) };
  const rules = { cluster, ...durations, scope, nodePools: filterOf(pools), replacements, extendOn };
  return { settings: { ...rules, karpenter, holdAnnotation, sweepEvery }, problems };
}

/** Reads all settings or throws one error that names every problem. */
export function readSettings(raw: RawSettings): Settings {
  const { settings, problems } = checkSettings(raw);
  if (problems.length > 0) throw new BadInputError("These settings cannot be used", problems);
  return settings;
}

/** Settings as text again, so that they can travel through an environment. */
export function writeSettings(settings: Settings): Record<SettingName, string> {
  const { nodePools } = settings;
  return {
    cluster: settings.cluster,
    hold: settings.auto ? "auto" : formatDuration(settings.hold),
    relaunchCost: settings.auto ? formatDuration(settings.auto.relaunchCost) : "",
    maxHold: formatDuration(settings.maxHold),
    breather: formatDuration(settings.breather),
    initialDelay: formatDuration(settings.initialDelay),
    scope: settings.scope,
    nodePools: [...nodePools.only, ...nodePools.except.map((name) => `!${name}`)].join(","),
    replacements: settings.replacements,
    extendOn: settings.extendOn,
    karpenter: settings.karpenter,
    holdAnnotation: settings.holdAnnotation,
    sweepEvery: formatDuration(settings.sweepEvery),
  };
}

const filterOf = (pools: readonly string[]): NodePoolFilter => ({
  only: pools.filter((name) => !name.startsWith("!")),
  except: pools.filter((name) => name.startsWith("!")).map((name) => name.slice(1)),
});
