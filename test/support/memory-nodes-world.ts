import { Karpenter } from "../../lambda/core/marks/keys.ts";
import type { NodesOptions, NodesWorld } from "../contracts/nodes.ts";
import { MemoryNodes } from "./memory-nodes.ts";

/** The contract's view of a cluster in memory. */
export async function memoryNodesWorld(options: NodesOptions): Promise<NodesWorld> {
  const annotation = options.annotation ?? Karpenter[options.karpenter ?? "v1"].annotation;
  const { nodePools = { only: [], except: [] } } = options;
  const actions = new Map<string, () => Promise<void>>();
  const before: MemoryNodes["before"] = async (call) => {
    if (call.kind !== "patch") return;
    const action = actions.get(call.node);
    actions.delete(call.node);
    await action?.();
  };
  const nodes = new MemoryNodes({ clock: { now: () => new Date() }, annotation, nodePools, before });
  const find = (name: string) => {
    const node = nodes.nodes.get(name);
    if (!node) throw new Error(`there is no node ${name}`);
    return node;
  };
  return {
    nodes,
    add: async (name, { pool = "default", providerId = "", labels = {}, annotations = {} } = {}) => {
      const instance = providerId.startsWith("aws://") ? (providerId.split("/").at(-1) ?? "") : providerId;
      const about = { labels: { ...labels }, annotations: { ...annotations }, instance: instance || name };
      nodes.add(name, { ...about, pool });
    },
    remove: async (name) => nodes.remove(name),
    edit: async (name, kind, key, value) => nodes.edit(name, kind, key, value),
    read: async (name) => structuredClone({ labels: find(name).labels, annotations: find(name).annotations }),
    history: async (name) => [...find(name).history],
    beforeNextPatch: (name, action) => actions.set(name, action),
    close: async () => {},
  };
}
