import { KubernetesAccess } from "../lambda/cluster-access/cluster-rights.ts";
import { type AccessEntries, changeAccess } from "../lambda/cluster-access/rules.ts";
import { after, minutes } from "../lambda/core/duration.ts";
import type { CallContext, Clock } from "../lambda/core/ports.ts";
import type { KubernetesCaller } from "../lambda/kubernetes/client.ts";

type Options = Readonly<{ api: KubernetesCaller; clock: Clock; holdAnnotation: string }>;

/** Kept free for giving the admin right back. */
const reserve = minutes(1);

/** Deploys our rights for this annotation, in a cluster where all our roles can log in already. */
export function changeAccessOf(
  { api, clock, holdAnnotation }: Options,
  { deadline, log }: CallContext,
): Promise<void> {
  const rights = new KubernetesAccess({ api, clock, log, until: after(deadline, -reserve) });
  const entries: AccessEntries = {
    authentication: async () => "access entries",
    whyUnreachable: async () => undefined,
    create: async () => "existed",
    delete: async () => {},
    asAdmin: (work) => work(rights),
    returnAdminRight: async () => {},
  };
  return changeAccess({ entries, log }, { cluster: "prod", holdAnnotation, roles: [] });
}
