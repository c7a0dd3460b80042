import { amountOf, gibOf } from "./traces/quantity.ts";
import type { Trace } from "./traces/trace.ts";

/** A kind of node; `price` in dollars an hour. */
export type InstanceType = Readonly<{
  name: string;
  cpu: number;
  memory: string;
  pods: number;
  price: number;
  /** What kubelet and system take, as the AMIs of EKS reserve it. */
  reservedCpu: string;
  reservedMemory: string;
}>;

const sizes = [
  ["large", 2, 29],
  ["xlarge", 4, 58],
  ["2xlarge", 8, 58],
  ["4xlarge", 16, 234],
  ["8xlarge", 32, 234],
  ["16xlarge", 64, 737],
  ["32xlarge", 128, 737],
] as const;

/** GiB and dollars an hour for each core: balanced, much CPU, much memory. */
const kinds = [
  ["m", 4, 0.048],
  ["c", 2, 0.0425],
  ["r", 8, 0.063],
] as const;

/** Of the first core 6 %, of the second 1 %, of the next two 0.5 % and of the others 0.25 %. */
const reservedMilli = (cores: number): number =>
  60 + 10 + 5 * Math.min(2, cores - 2) + 2.5 * Math.max(0, cores - 4);

/** For the kubelet 255 MiB and 11 for each pod, and 100 before pods are evicted. */
const reservedMib = (pods: number): number => 355 + 11 * pods;

/** Every instance type that a NodePool may use, by name. */
export const instanceTypes: ReadonlyMap<string, InstanceType> = new Map(
  kinds.flatMap(([kind, gib, price]) =>
    sizes.map(([size, cpu, pods]) => [
      `${kind}.${size}`,
      {
        name: `${kind}.${size}`,
        cpu,
        memory: `${cpu * gib}Gi`,
        pods,
        price: Math.round(cpu * price * 1e4) / 1e4,
        reservedCpu: `${Math.round(reservedMilli(cpu))}m`,
        reservedMemory: `${reservedMib(pods)}Mi`,
      },
    ]),
  ),
);

const upTo16 = ["large", "xlarge", "2xlarge", "4xlarge"];

type World = Readonly<{ about: string; types: readonly string[] }>;
const sized = (...kinds: readonly string[]) =>
  kinds.flatMap((kind) => upTo16.map((size) => `${kind}.${size}`));

/** Which instance types there are, by the name of the world. */
export const worlds: ReadonlyMap<string, World> = new Map([
  ["one", { about: "one size, of 8 cores", types: ["m.2xlarge"] }],
  ["four", { about: "four sizes, of 2 to 16 cores", types: sized("m") }],
  [
    "families",
    { about: "two families, with 2 and 8 GiB a core, of 2 to 16 cores each", types: sized("c", "r") },
  ],
]);

/** Costs are counted in time of a balanced node of 8 cores, which costs so much an hour. */
export const basePrice = 8 * 0.048;

/** The instance types of a world, or those whose names are joined by `+`. */
export const typesOf = (world: string): readonly InstanceType[] =>
  (worlds.get(world)?.types ?? world.split("+")).map((name) => {
    const type = instanceTypes.get(name);
    if (!type) throw new Error(`there is no instance type ${name}`);
    return type;
  });

/** What an amount of pods, or a node, has or needs. */
export type Amount = Readonly<{ cores: number; gib: number; pods: number }>;

/** What a node of this type has for pods, beside the kubelet and the daemons of each node. */
export function roomOf(type: InstanceType, daemons: Trace["daemons"]): Amount {
  const taken = daemons.map(({ cpu, memory }) => ({ cores: amountOf(cpu), gib: gibOf(memory) }));
  const sum = (key: "cores" | "gib") => taken.reduce((total, one) => total + one[key], 0);
  return {
    cores: type.cpu - amountOf(type.reservedCpu) - sum("cores"),
    gib: gibOf(type.memory) - gibOf(type.reservedMemory) - sum("gib"),
    pods: type.pods - daemons.length,
  };
}

/** Why a trace cannot be played with these types: pods that fit on no node would wait for ever. */
export function misfitsOf(trace: Trace, types: readonly InstanceType[]): readonly string[] {
  const rooms = types.map((type) => roomOf(type, trace.daemons));
  const fits = (cpu: string | number, memory: string | number | undefined) =>
    rooms.some(({ cores, gib }) => amountOf(cpu) <= cores && gibOf(memory) <= gib);
  const names = types.map(({ name }) => name).join(", ");
  return [...trace.services, ...trace.jobs]
    .filter(({ cpu, memory }) => !fits(cpu, memory))
    .map(({ name, cpu, memory }) => {
      const needs = [`${amountOf(cpu)} cores`, ...(memory ? [`${gibOf(memory).toFixed(1)} GiB`] : [])];
      return `${name} needs ${needs.join(" and ")}, which no node of ${names} has`;
    });
}
