import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { kubeconfigLogin } from "../../../local/run/kubeconfig-login.ts";
import { manifestYaml, type RightsFor } from "../../../local/run/manifest-yaml.ts";
import { clientOf } from "../../contracts/cluster-nodes.ts";
import type { ControlPlane } from "../engines/control-plane.ts";
import type { World } from "./world.ts";

/** Applies the holder's manifest. */
export async function applyRights(plane: ControlPlane, rightsFor: RightsFor): Promise<void> {
  const rights = join(plane.folder, "rights.yaml");
  writeFileSync(rights, manifestYaml(Karpenter.v1.annotation, { rightsFor }));
  await plane.kubectl(["apply", "-f", rights]);
}

/** A client that has the holder's rights and no others. */
export async function holderClient({ plane }: World): Promise<KubernetesClient> {
  await applyRights(plane, "functions");
  return clientOf(await kubeconfigLogin(plane.config("holder")).access());
}
