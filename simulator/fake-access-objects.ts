import type { KubernetesCall } from "../lambda/kubernetes/client.ts";
import { KubernetesError } from "../lambda/kubernetes/error.ts";

/** Our roles, bindings and admission policy in a cluster, by path. It stores them, and grants or refuses nothing. */
export class FakeAccessObjects {
  readonly all = new Map<string, unknown>();
  hasPolicies = true;

  static answers({ path }: KubernetesCall): boolean {
    return /^\/apis\/(rbac|admissionregistration)\./.test(path);
  }

  answer({ method, path, body }: KubernetesCall): unknown {
    const isUnknownKind = path.includes("admission") && !this.hasPolicies;
    if (method === "PATCH" && !isUnknownKind) this.all.set(path, body);
    const found = this.all.get(path);
    if (found === undefined) {
      const details = { name: isUnknownKind ? "" : "karpenter-node-holder", causes: [] };
      throw new KubernetesError(`${method} ${path}`, 404, { details });
    }
    if (method === "DELETE") this.all.delete(path);
    return found;
  }
}
