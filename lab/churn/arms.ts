import { formatDuration, minutes } from "../../lambda/core/duration.ts";
import type { RawSettings } from "../../lambda/settings.ts";
import type { Colour } from "../../report/page/picture.ts";
import type { NodePool } from "../../test/real/engines/karpenter.ts";

/** One way to run the same work: how the NodePool is disrupted, and the holder's settings where it runs. */
export type Arm = Readonly<{
  about: string;
  /** Its colour in every plot. */
  colour: Colour;
  pool: (hold: string) => Pick<NodePool, "consolidateAfter" | "consolidationPolicy" | "budgets">;
  holder?: RawSettings;
  /** The version of Karpenter, where it is not the newest. */
  karpenter?: string;
}>;

/** The `relaunchCost` of the arm `auto`. */
export const relaunchCost = minutes(1);

const atOnce = () => ({ consolidateAfter: "0s" });

/** Every arm, by name. */
export const arms = {
  none: { colour: "faint", about: "Karpenter alone, `consolidateAfter: 0s`", pool: atOnce },
  "consolidate-after": {
    colour: "release",
    about: "`consolidateAfter` as long as the hold",
    pool: (hold) => ({ consolidateAfter: hold }),
  },
  "consolidate-after-1.13": {
    colour: "pink",
    about: "the same with Karpenter 1.13, in which a node within its `consolidateAfter` may still be filled",
    pool: (hold) => ({ consolidateAfter: hold }),
    karpenter: "1.13.0",
  },
  balanced: {
    colour: "own",
    about: "`consolidationPolicy: Balanced`",
    pool: () => ({ consolidateAfter: "0s", consolidationPolicy: "Balanced" }),
  },
  "empty-only": {
    colour: "image",
    about: "a budget that lets only empty nodes and drifted nodes go",
    pool: () => ({
      consolidateAfter: "0s",
      budgets: [
        { nodes: "0", reasons: ["Underutilized"] },
        { nodes: "100%", reasons: ["Empty", "Drifted"] },
      ],
    }),
  },
  launches: {
    colour: "eviction",
    about: "a holder that counts every launch and no use (`extendOn=launches`, `replacements=hold`)",
    pool: atOnce,
    holder: { extendOn: "launches", replacements: "hold" },
  },
  holder: { colour: "ink", about: "the holder with its defaults", pool: atOnce, holder: {} },
  "holder-empty": {
    colour: "free",
    about: "the holder with `letGo=empty`: nodes that are quiet and empty go by themselves",
    pool: atOnce,
    holder: { letGo: "empty" },
  },
  auto: {
    colour: "launch",
    about: `a holder that learns its length (\`hold=auto\`, \`relaunchCost=${formatDuration(relaunchCost)}\`)`,
    pool: atOnce,
    holder: { hold: "auto", relaunchCost: formatDuration(relaunchCost) },
  },
  "holder-30s": {
    colour: "held",
    about: "the holder beside `consolidateAfter: 30s`",
    pool: () => ({ consolidateAfter: "30s" }),
    holder: {},
  },
  "holder-30s-1.13": {
    colour: "navy",
    about: "`holder-30s` with Karpenter 1.13",
    pool: () => ({ consolidateAfter: "30s" }),
    holder: {},
    karpenter: "1.13.0",
  },
  "auto-30s": {
    colour: "teal",
    about: "a holder that learns its length, beside `consolidateAfter: 30s`",
    pool: () => ({ consolidateAfter: "30s" }),
    holder: { hold: "auto", relaunchCost: formatDuration(relaunchCost) },
  },
} as const satisfies Record<string, Arm>;

export type ArmName = keyof typeof arms;

export const armOf = (name: ArmName): Arm => arms[name];

export const armNames = Object.keys(arms) as ArmName[];
