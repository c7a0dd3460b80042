import { arms } from "../arms.ts";

/** A colour for each arm in its order, on white and on black: warm ones for Karpenter alone, cold ones with the holder. */
const palette = [
  ["#f2b04b", "#f6c56f"],
  ["#e58b1d", "#f0a03c"],
  ["#cc6a0b", "#e0801f"],
  ["#a84e08", "#c96a1e"],
  ["#7c3a0c", "#b07a4e"],
  ["#8a8f98", "#8a8f98"],
  ["#bf3989", "#db61a2"],
  ["#59636e", "#b6bfc9"],
  ["#cf222e", "#ff7b72"],
  ["#e0705f", "#ffb4a8"],
  ["#0969da", "#58a6ff"],
  ["#1b7c83", "#39c5cf"],
  ["#2da44e", "#3fb950"],
  ["#8250df", "#a371f7"],
  ["#3b3b98", "#8f8fe8"],
] as const;

const variable = (arm: string): string => `--arm-${arm}`;

/** The colour of an arm in the present theme. */
export const colourOf = (arm: string): string => `var(${variable(arm)},currentColor)`;

/** The rules that a picture with arms needs. */
export const armColours = (): string => {
  const declared = (theme: 0 | 1) =>
    arms.map(({ name }, i) => `${variable(name)}:${palette[i]?.[theme]}`).join(";");
  return `.knh{${declared(0)}}@media(prefers-color-scheme:dark){.knh{${declared(1)}}}`;
};
