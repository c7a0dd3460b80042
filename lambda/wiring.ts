import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EC2Client } from "@aws-sdk/client-ec2";
import { EKSClient } from "@aws-sdk/client-eks";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SQSClient } from "@aws-sdk/client-sqs";
import { clientDefaults, ec2Defaults } from "./aws/clients.ts";
import { DynamodbTable } from "./aws/dynamodb-table.ts";
import { Ec2Launches } from "./aws/ec2-launches.ts";
import { EksLogin } from "./aws/eks-login.ts";
import { EventBridgeEvents } from "./aws/eventbridge-events.ts";
import { SchedulerReleases } from "./aws/scheduler-releases.ts";
import { SqsFollowUps } from "./aws/sqs-follow-ups.ts";
import type { Inspection } from "./core/operate/check.ts";
import type { PassPorts, Ports } from "./core/ports.ts";
import { writesNodeEvents } from "./core/rules.ts";
import type { Config } from "./environment.ts";
import { KubernetesClient } from "./kubernetes/client.ts";
import { KubernetesInspection } from "./kubernetes/inspection.ts";
import { nodeEventsFor } from "./kubernetes/node-events.ts";
import { KubernetesNodeClaims } from "./kubernetes/nodeclaims.ts";
import { KubernetesNodes, type KubernetesNodesOptions } from "./kubernetes/nodes.ts";
import { KubernetesPods } from "./kubernetes/pods.ts";
import type { ClusterLogin } from "./kubernetes/transport.ts";
import { StoredHolds } from "./record/stored-holds.ts";
import { StoredJournal } from "./record/stored-journal.ts";
import { holdIds, systemClock } from "./system-clock.ts";
import { Telemetry } from "./telemetry/powertools.ts";

type Wired<P> = Readonly<{
  ports: P;
  telemetry: Telemetry;
  login: ClusterLogin;
  cluster: KubernetesNodesOptions;
  inspection: Inspection;
}>;

/** What the release function needs; its own bundle contains no client of EC2. */
export function wireRelease(config: Config): Wired<PassPorts> {
  const { settings, region } = config;
  const telemetry = new Telemetry(settings.cluster, config.monitoring);
  const { log, metrics, calls } = telemetry;
  const client = { ...clientDefaults, region };
  const table = new DynamodbTable(calls.ofAws(new DynamoDBClient(client)), config.holdTable);
  const eks = calls.ofAws(new EKSClient(client));
  const login = new EksLogin({ eks, cluster: settings.cluster, clock: systemClock });
  const events = config.events
    ? new EventBridgeEvents({
        region,
        endpoint: config.endpoint,
        credentials: eks.config.credentials,
        rules: settings,
        log,
        metrics,
        time: (name, call) => calls.time(name, call),
      })
    : undefined;
  telemetry.events = events;
  const cluster: KubernetesNodesOptions = {
    api: calls.ofKubernetes(new KubernetesClient({ login, clock: systemClock, metrics })),
    karpenter: settings.karpenter,
    annotation: settings.holdAnnotation,
    nodePools: settings.nodePools,
    metrics,
  };
  const ports: PassPorts = {
    rules: settings,
    holds: new StoredHolds(table, systemClock),
    journal: new StoredJournal(table, systemClock),
    events,
    nodes: new KubernetesNodes(cluster),
    nodeClaims: new KubernetesNodeClaims(cluster),
    pods: new KubernetesPods(cluster),
    nodeEvents: nodeEventsFor(settings, { ...cluster, clock: systemClock }),
    schedules: new SchedulerReleases({
      client: calls.ofAws(new SchedulerClient(client)),
      clock: systemClock,
      group: config.scheduleGroup,
      roleArn: config.scheduleRoleArn,
      releaseFunctionArn: config.releaseFunctionArn,
    }),
    followUps: new SqsFollowUps(calls.ofAws(new SQSClient(client)), config.launchQueueUrl),
    clock: systemClock,
    ids: holdIds,
    metrics,
  };
  const { mode, auto } = settings;
  const rights = { mode, auto, nodeEvents: writesNodeEvents(settings) };
  const inspection = new KubernetesInspection({ ...cluster, clock: systemClock, ...rights });
  return { ports, telemetry, login, cluster, inspection };
}

/** What all other functions need: the same, with EC2 for launches. */
export function wire(config: Config): Wired<Ports> {
  const { ports, ...rest } = wireRelease(config);
  const { calls } = rest.telemetry;
  const ec2 = calls.ofAws(new EC2Client({ ...ec2Defaults, region: config.region }));
  const launches = new Ec2Launches(ec2, config.settings.cluster);
  return { ports: { ...ports, launches }, ...rest };
}
