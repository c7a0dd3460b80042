import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { manifestYaml } from "../../../lambda/cluster-access/manifest-yaml.ts";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { kubeconfigLogin } from "../../../lambda/kubernetes/kubeconfig-login.ts";
import { clientOf } from "../../contracts/cluster-nodes.ts";
import type { World } from "./world.ts";

/** Applies the holder's manifest, and returns a client that has its rights and no others. */
export async function holderClient({ plane }: World): Promise<KubernetesClient> {
  const rights = join(plane.folder, "rights.yaml");
  writeFileSync(rights, manifestYaml([Karpenter.v1.annotation]));
  await plane.kubectl(["apply", "-f", rights]);
  return clientOf(await kubeconfigLogin(plane.config("holder")).access());
}
