import { EKSClient } from "@aws-sdk/client-eks";
import { clientDefaults } from "../adapters/aws-clients.ts";
import { EksDoors } from "../adapters/eks-access-entries.ts";
import { EksLogin } from "../adapters/eks-login.ts";
import { KubernetesAccess } from "../adapters/kubernetes-access.ts";
import { KubernetesClient } from "../adapters/kubernetes-client.ts";
import { Telemetry } from "../adapters/powertools.ts";
import { systemClock as clock } from "../adapters/system-clock.ts";
import { minutes } from "../core/duration.ts";
import { SettingEnvironment } from "../environment.ts";
import { onClusterAccessChanged } from "../handlers/cluster-access-changed.ts";
import { invocation } from "../invocation.ts";

const telemetry = new Telemetry(process.env[SettingEnvironment.cluster] ?? "");
const { log, metrics } = telemetry;
const eks = new EKSClient(clientDefaults);

// A removal is three deeds, so that four minutes each fit into the function's time.
const deed = minutes(4);

const open = (cluster: string, adminRole: string) => {
  const login = new EksLogin({ eks, cluster, clock });
  const api = new KubernetesClient({ login, clock, metrics });
  const rights = new KubernetesAccess({ api, clock, log, timeLimit: deed });
  return { doors: new EksDoors({ eks, cluster, adminRole, rights }), log };
};

export const handler = invocation(telemetry, clock, onClusterAccessChanged(open));
