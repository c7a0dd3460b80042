import { KubernetesAccess } from "../lambda/cluster-access/cluster-rights.ts";
import { accessManifest, clusterRolePath, keysOfRole } from "../lambda/cluster-access/manifest.ts";
import { type AccessEntries, changeAccess } from "../lambda/cluster-access/rules.ts";
import { after, minutes } from "../lambda/core/duration.ts";
import type { CallContext, Clock } from "../lambda/core/ports.ts";
import type { KubernetesCall, KubernetesCaller } from "../lambda/kubernetes/client.ts";
import { KubernetesError } from "../lambda/kubernetes/error.ts";

/** Our roles, bindings and admission policy in a cluster, by path. It stores them, and grants or refuses nothing. */
export class FakeAccessObjects {
  readonly all = new Map<string, unknown>();
  hasPolicies = true;

  /** Writes all of them at once, as a deployment with these annotations leaves them. */
  install(annotations: readonly string[]): void {
    for (const { path, object, needsPolicies } of accessManifest(annotations))
      if (this.hasPolicies || !needsPolicies) this.all.set(path, object);
  }

  /** The annotation keys that our ClusterRole records. */
  get annotations(): readonly string[] {
    return keysOfRole(this.all.get(clusterRolePath));
  }

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

type Options = Readonly<{ api: KubernetesCaller; clock: Clock; holdAnnotation: string }>;

/** Kept free for giving the admin right back. */
const reserve = minutes(1);

/** Deploys our rights for this annotation, in a cluster where all our roles can log in already. */
export function changeAccessOf(
  { api, clock, holdAnnotation }: Options,
  { deadline, log }: CallContext,
): Promise<void> {
  // This API server learns of a change at once.
  const sleep = async () => {};
  const rights = new KubernetesAccess({ api, clock, log, until: after(deadline, -reserve), sleep });
  const entries: AccessEntries = {
    authentication: async () => "access entries",
    whyUnusable: async () => undefined,
    create: async () => "existed",
    delete: async () => "none",
    asAdmin: (work) => work(rights),
    returnAdminRight: async () => {},
  };
  return changeAccess({ entries, log }, { cluster: "prod", holdAnnotation, roles: [] });
}
