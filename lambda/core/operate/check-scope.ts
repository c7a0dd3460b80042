import { nearestName } from "../../spelling.ts";
import { BadInputError } from "../errors.ts";
import type { PassContext } from "../ports.ts";
import { isOfRules } from "../rules.ts";
import { admits, nodePoolOf, type Scope } from "../scope.ts";

type Operation = "hold" | "pause" | "resume" | "release";
type Asked = Readonly<{ operation: Operation; scope: Scope; mayHaveNoNodes?: boolean }>;

/** What to do about a NodePool that exists and has no node now. */
const otherwise: Readonly<Record<Operation, string>> = {
  hold: "hold it once it has one",
  pause: "pause it once it has one, or pause the whole cluster",
  resume: "there is nothing to resume",
  release: "there is nothing to release",
};

/**
 * Refuses a scope on which the operation would have no effect, so that nobody relies on a pause of a mistyped name.
 * We may not list NodePools: one is known by its nodes or by its record. A hold that is recorded can always be released, and a pause resumed.
 */
export async function checkScope(
  context: PassContext,
  { operation, scope, mayHaveNoNodes = false }: Asked,
): Promise<void> {
  const { rules } = context;
  const nodePool = nodePoolOf(scope);
  const record = nodePool === undefined ? undefined : await context.holds.find(scope);
  if (record && (operation === "resume" || (operation === "release" && record.hold))) return;
  // A pause, a resume and a release of everything work with every setting.
  if (!isOfRules(rules, scope) && (nodePool !== undefined || operation === "hold")) {
    const expected = rules.scope === "cluster" ? '"cluster"' : '"nodepool/NAME"';
    throw new BadInputError(`Cannot ${operation}`, [
      `scope must be ${expected} with this deployment's settings, not "${scope}"`,
    ]);
  }
  if (nodePool !== undefined && operation !== "release" && !admits(rules.nodePools, nodePool))
    throw new BadInputError(`Cannot ${operation}`, [`the setting nodePools leaves out NodePool ${nodePool}`]);
  if (nodePool === undefined || record || mayHaveNoNodes) return;
  const [present, { records }] = await Promise.all([context.nodes.nodePools(context), context.holds.all()]);
  // Marks from before a change of the settings may be on the nodes of any NodePool.
  const known = [...present].filter((name) => operation === "release" || admits(rules.nodePools, name));
  if (known.includes(nodePool)) return;
  const recorded = records.flatMap((record) => nodePoolOf(record.scope) ?? []);
  const meant = nearestName(nodePool, [...known, ...recorded]);
  const hint = meant ? `did you mean ${meant}? If not, ` : `NodePools with nodes: ${listed(known)}; `;
  throw new BadInputError(`Cannot ${operation}`, [
    `no node of NodePool ${nodePool}; ${hint}${otherwise[operation]}`,
  ]);
}

const mostNames = 10;

function listed(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const shown = names.toSorted().slice(0, mostNames).join(", ");
  return names.length > mostNames ? `${shown} and ${names.length - mostNames} more` : shown;
}
