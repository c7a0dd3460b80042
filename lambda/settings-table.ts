import { type Duration, hours, minutes } from "./core/duration.ts";
import { annotationKey } from "./core/marks/keys.ts";

/*
 * Every setting, once: here, and in infra/settings/deployment.ts what only a deployment reads. From these tables come the
 * functions' environment, the flags of `run`, `manifest` and `template`, the keys of `cdk deploy -c`, the check of the
 * construct's props, what `status -o wide` shows, and the values of the chart. Tests compare the construct's props and
 * the documents with them.
 */

type Kind =
  /** From `least` to `most`. `zero`: what 0s means, where that is allowed too; `or`: a word that is allowed instead. */
  | Readonly<{
      kind: "duration";
      least: Duration;
      most: Duration;
      zero?: string;
      or?: string;
      whole?: "minutes";
    }>
  | Readonly<{ kind: "choice"; choices: readonly string[] }>
  | Readonly<{ kind: "text"; pattern: RegExp; expected: string; example: string }>
  /** The pattern is that of each item; commas separate them unless another sign does. */
  | Readonly<{ kind: "list"; separator?: string; pattern: RegExp; expected: string; example: string }>;

export type Setting = Readonly<{
  value: Kind;
  /** What it means, as the documents print it; they add limits and default. */
  help: string;
  /** As a user writes it. */
  default?: string;
  /** What the documents print when there is no default. */
  unset?: string;
  /** The default of `run`, where it differs. */
  runDefault?: string;
  /** Resources are computed from it, so a ready-made template cannot have it as a parameter. */
  constructOnly?: true;
  /** The name of the construct's prop, where that is an object of the CDK. */
  prop?: string;
}>;
export type SettingsTable = Readonly<Record<string, Setting>>;

/** What the holder itself reads: the functions from their environment, `run` from its flags. */
export const holderSettings = {
  cluster: {
    value: {
      kind: "text",
      pattern: /^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/,
      expected: "an EKS cluster's name (letters, digits, - and _, at most 100)",
      example: "prod",
    },
    unset: "required",
    help: "name of the cluster",
  },
  mode: {
    value: { kind: "choice", choices: ["hold", "observe"] },
    default: "hold",
    help: "`hold`, or `observe`: everything is decided and recorded, and no node is changed",
  },
  hold: {
    value: { kind: "duration", least: minutes(1), most: hours(24), or: "auto" },
    default: "auto",
    help: "`auto`: a node goes when that pays; or how long each launch protects the nodes of its scope",
  },
  relaunchCost: {
    value: { kind: "duration", least: minutes(1), most: hours(24) },
    default: "2m",
    help: "with `hold=auto`: what launching a node again costs, in time of that node",
  },
  evictionCost: {
    value: { kind: "duration", least: 0, most: hours(24) },
    default: "3m",
    help: "with `hold=auto`: what evicting a pod costs, in time of its node",
  },
  maxHold: {
    value: { kind: "duration", least: minutes(1), most: hours(24 * 7), zero: "for no cap" },
    default: "2h",
    help: "with `hold=auto`: how long after the last launch all nodes are released, those with Jobs when done; else: how long launches hold without a break, `0s` for no cap",
  },
  breather: {
    value: { kind: "duration", least: minutes(1), most: hours(24) },
    default: "10m",
    help: "with a constant `hold`: after `maxHold`, launches hold nothing for this long, so that Karpenter can consolidate",
  },
  maxRequest: {
    value: { kind: "duration", least: minutes(1), most: hours(24 * 90) },
    default: "24h",
    help: "the longest hold that a person or an event may ask for; a longer one is refused",
  },
  initialDelay: {
    value: { kind: "duration", least: 0, most: minutes(15) },
    default: "0s",
    help: "wait before acting on a launch",
  },
  scope: {
    value: { kind: "choice", choices: ["cluster", "nodepool"] },
    default: "cluster",
    help: "`cluster`: one hold for all; `nodepool`: a launch protects its own NodePool only",
  },
  nodePools: {
    value: {
      kind: "list",
      pattern: /^!?[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/,
      expected: "NodePool names separated by commas, with ! before those to leave out",
      example: "batch,!system",
    },
    unset: "all",
    help: "names to include, or `!name` to leave out",
  },
  driftWait: {
    value: { kind: "duration", least: 0, most: hours(24 * 7) },
    default: "0s",
    help: "how long launches still hold a node after it drifted; `0s`: until the next pass, with a constant `hold` within `sweepEvery`",
  },
  karpenter: {
    value: { kind: "choice", choices: ["v1", "v0.31"] },
    default: "v1",
    help: "`v1` (v0.32 and later) or `v0.31`, whose annotation delays consolidation only",
  },
  holdAnnotation: {
    value: {
      kind: "text",
      pattern: annotationKey,
      expected: "an annotation key with a prefix",
      example: "example.com/keep",
    },
    unset: "by `karpenter`",
    help: "another annotation key",
  },
  sweepEvery: {
    value: { kind: "duration", least: minutes(1), most: hours(1), whole: "minutes" },
    default: "5m",
    runDefault: "1m",
    constructOnly: true,
    help: "how often a sweep compares record, nodes and clock",
  },
  nodeEvents: {
    value: { kind: "choice", choices: ["false", "true"] },
    default: "false",
    help: "`true`: an Event on each node that is held, let go or released, for `kubectl describe node`",
  },
} as const satisfies SettingsTable;

type ValueOf<Kind> = Kind extends { kind: "duration"; or: infer Other }
  ? Duration | Other
  : Kind extends { kind: "duration" }
    ? Duration
    : Kind extends { choices: readonly (infer Choice)[] }
      ? Choice
      : Kind extends { kind: "list" }
        ? readonly string[]
        : string;

/** The values of a table's settings, each of its kind. */
export type Values<Table extends SettingsTable> = {
  readonly [Name in keyof Table]: ValueOf<Table[Name]["value"]>;
};
