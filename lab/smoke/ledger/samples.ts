import * as v from "valibot";
import type { StatusAnswer } from "../../../cli/answers.ts";

const moment = v.pipe(v.string(), v.toDate());

/** A node as the cluster itself shows it. */
const node = v.object({
  name: v.string(),
  nodePool: v.string(),
  createdAt: moment,
  /** The value of the holder's label. */
  label: v.optional(v.string()),
  /** The value of Karpenter's annotation. */
  annotation: v.optional(v.string()),
});
export type NodeSeen = v.InferOutput<typeof node>;

const scope = v.object({
  scope: v.string(),
  state: v.string(),
  holdId: v.optional(v.string()),
  nodesHeld: v.number(),
  drifted: v.number(),
  /** The nodes that `hold=auto` has let go. */
  letGo: v.array(v.string()),
});
export type ScopeSeen = v.InferOutput<typeof scope>;

const sample = v.variant("kind", [
  v.object({
    kind: v.literal("begin"),
    at: moment,
    cluster: v.string(),
    every: v.number(),
    criteria: v.array(v.string()),
  }),
  v.object({ kind: v.literal("record"), at: moment, scopes: v.array(scope) }),
  v.object({ kind: v.literal("nodes"), at: moment, nodes: v.array(node) }),
  v.object({
    kind: v.literal("failure"),
    at: moment,
    recorder: v.picklist(["record", "nodes"]),
    message: v.string(),
  }),
  v.object({ kind: v.literal("end"), at: moment }),
]);
/** One line of a ledger: what a recorder saw, raw. */
export type Sample = v.InferOutput<typeof sample>;
export type SampleOf<Kind extends Sample["kind"]> = Extract<Sample, { kind: Kind }>;

const line = v.pipe(v.string(), v.parseJson(), sample);

/** Reads lines of JSON; a line that is cut off is none. */
export const readSamples = (text: string): readonly Sample[] =>
  text.split("\n").flatMap((one) => {
    const { success, output } = v.safeParse(line, one);
    return success ? [output] : [];
  });

/** Our own record, as `status` shows it. */
export const recordSeen = ({ scopes }: StatusAnswer): readonly ScopeSeen[] =>
  scopes.map(({ scope, state, holdId, nodesHeld, drifted, goes = [] }) => ({
    ...{ scope, state, nodesHeld, drifted },
    ...(holdId && { holdId }),
    letGo: goes.filter(({ isLetGo }) => isLetGo).map(({ name }) => name),
  }));
