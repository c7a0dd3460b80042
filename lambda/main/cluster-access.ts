import { EKSClient } from "@aws-sdk/client-eks";
import { clientDefaults } from "../aws/clients.ts";
import { EksLogin } from "../aws/eks-login.ts";
import { EksAccessEntries } from "../cluster-access/access-entries.ts";
import { KubernetesAccess } from "../cluster-access/cluster-rights.ts";
import { readAccessConfig } from "../cluster-access/environment.ts";
import { type OpenCluster, onClusterAccessChanged } from "../cluster-access/handler.ts";
import { newAdmin } from "../cluster-access/new-admin.ts";
import { monitoringVariable, SettingEnvironment, vpcVariable } from "../environment.ts";
import { invocation } from "../invocation.ts";
import { KubernetesClient } from "../kubernetes/client.ts";
import { systemClock as clock } from "../system-clock.ts";
import { Telemetry } from "../telemetry/powertools.ts";

const telemetry = new Telemetry(
  process.env[SettingEnvironment.cluster] ?? "",
  process.env[monitoringVariable],
);
const { log, metrics } = telemetry;
const inVpc = process.env[vpcVariable] === "true";
const eks = new EKSClient(clientDefaults);

const open: OpenCluster = ({ cluster, name, mode, auto, nodeEvents, adminRole }, workUntil) => {
  const login = new EksLogin({ eks, cluster, clock });
  const api = newAdmin({ api: new KubernetesClient({ login, clock, metrics }), clock });
  const wanted = { holder: name, mode, auto, nodeEvents };
  const rights = new KubernetesAccess({ api, clock, log, ...wanted, until: workUntil });
  const entries = new EksAccessEntries({ eks, cluster, adminRole, rights, inVpc, clock, workUntil });
  return { entries, log, metrics };
};

export const handler = invocation(
  telemetry,
  clock,
  onClusterAccessChanged(() => readAccessConfig(process.env), open),
);
