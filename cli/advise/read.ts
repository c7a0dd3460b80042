import type { KubeConfig } from "@kubernetes/client-node";
import * as v from "valibot";
import { after, minutes } from "../../lambda/core/duration.ts";
import { messageOf, TryAgainError } from "../../lambda/core/errors.ts";
import type { CallContext } from "../../lambda/core/ports.ts";
import { type KubernetesCaller, KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { isStatus, KubernetesError } from "../../lambda/kubernetes/error.ts";
import { type PageQuery, pagesOf } from "../../lambda/kubernetes/lists.ts";
import type { ClusterLogin } from "../../lambda/kubernetes/transport.ts";
import { kubeconfigLogin } from "../../local/run/kubeconfig-login.ts";
import { refuseUnreachable } from "../../local/run/rights.ts";
import { Failure } from "../terminal/failure.ts";
import { allReadable } from "../terminal/text.ts";
import {
  isKarpenters,
  type ReadPod,
  readEach,
  readLog,
  readMetrics,
  type Text,
  versionOf,
} from "./karpenter-pods.ts";
import * as objects from "./objects.ts";

/** Something that could not be read, and why. */
export type Missing = Readonly<{ missing: string }>;
export type Read<T> = T | Missing;
export const isMissing = (value: unknown): value is Missing =>
  typeof value === "object" && value !== null && "missing" in value;
/** What was read, or nothing to go through. */
export const orNone = <T>(value: Read<readonly T[]> | undefined): readonly T[] =>
  value === undefined || isMissing(value) ? [] : value;

/** What is listed in a cluster: its name for people, its path (and which fields select it), and what is read of it. */
export const lists = {
  nodePools: ["NodePools", "/apis/karpenter.sh/v1/nodepools", objects.nodePoolSchema],
  nodeClaims: ["NodeClaims", "/apis/karpenter.sh/v1/nodeclaims", objects.nodeClaimSchema],
  nodes: ["nodes", "/api/v1/nodes", objects.nodeSchema],
  pods: ["pods", "/api/v1/pods?status.phase!=Succeeded,status.phase!=Failed", objects.podWithNameSchema],
  pdbs: ["PodDisruptionBudgets", "/apis/policy/v1/poddisruptionbudgets", objects.pdbSchema],
  jobs: ["Jobs", "/apis/batch/v1/jobs", objects.jobSchema],
  events: ["events", "/api/v1/events?source=karpenter", objects.eventSchema],
} as const;
type Lists = typeof lists;
type Listed = { readonly [Kind in keyof Lists]: Read<readonly v.InferOutput<Lists[Kind][2]>[]> };

/** What a look at a cluster found; each part may be missing by itself. */
export type ClusterFacts = Listed &
  Readonly<{
    readAt: Date;
    log: Read<Text>;
    metrics: Read<Text>;
    /** Karpenter's minor version, like 14 of 1.14.2, from its image. */
    karpenter: Read<number>;
  }>;

type Deadline = Pick<CallContext, "deadline">;
/** Called for each part that was read, and with the length of each piece of one that is under way. */
type OnRead = (what: string, piece?: number) => void;

/** What is not answered by then is reported as missing; a text that still comes is read to its end. */
const longest = minutes(3);

/** What Karpenter writes in EKS Auto Mode. */
const autoModeEvents = "/api/v1/events?source=eks-auto-mode/compute";

/** Reads a cluster with the rights of a kubeconfig, without any change. */
export async function readCluster(config: KubeConfig, onRead: OnRead): Promise<ClusterFacts> {
  const login = kubeconfigLogin(config);
  // A login that fails is the answer to everything; it is reported once, with its own words.
  await login.access();
  // It may have asked a person.
  const now = new Date();
  return withKubernetes(login, async (api) => {
    // Whoever gets no answer at all needs no list of what is missing.
    await refuseUnreachable(api, config.getCurrentCluster()?.server);
    const facts = await readFacts(api, now, onRead);
    if (isMissing(facts.nodePools)) await refuseWithoutKarpenter(api, now);
    return facts;
  });
}

/** Does this work in a cluster with this login. */
export async function withKubernetes<T>(
  login: ClusterLogin,
  work: (api: KubernetesCaller) => Promise<T>,
): Promise<T> {
  const api = new KubernetesClient({ login, clock: { now: () => new Date() }, metrics: { add: () => {} } });
  try {
    return await work(askingOnce(api));
  } finally {
    await api.close();
  }
}

/** A person waits: a 403 is the answer at once, also where the server does not show whether it just starts. */
const askingOnce = (api: KubernetesCaller): KubernetesCaller => ({
  call: async (call, context) => {
    try {
      return await api.call({ ...call, isTriedOnce: true }, context);
    } catch (error) {
      const { cause } = Object(error);
      if (isStatus(cause, 403)) throw cause;
      if (call.isTriedOnce || error instanceof KubernetesError || !(error instanceof TryAgainError))
        throw error;
      return api.call(call, context);
    }
  },
});

const group = v.object({ versions: v.array(v.object({ version: v.string() })) });

/** Where the API is unknown, or only an older one is there, every part would be missing, and never appear. */
async function refuseWithoutKarpenter(api: KubernetesCaller, now: Date): Promise<void> {
  const context = { deadline: after(now, longest) };
  const path = "/apis/karpenter.sh";
  const found = await unlessMissing(
    async () => v.parse(group, await api.call({ method: "GET", path }, context)).versions,
    () => [],
  );
  if (isMissing(found) || found.some(({ version }) => version === "v1")) return;
  if (found.length === 0)
    throw new Failure(
      "this cluster has no Karpenter: its API server does not know karpenter.sh",
      "Check --kubeconfig and --context.",
    );
  const versions = found.map(({ version }) => version).join(", ");
  throw new Failure(
    `this cluster's Karpenter is older than 1.0: of karpenter.sh it has only ${versions}`,
    "`run --observe` works with older versions, too: it shows what would be held.",
  );
}

async function readFacts(api: KubernetesCaller, now: Date, onRead: OnRead): Promise<ClusterFacts> {
  const context = { deadline: after(now, longest) };
  const readList = async (address: string, schema: v.GenericSchema): Promise<unknown> => {
    const [path = "", fieldSelector = ""] = address.split("?");
    return allReadable(await unlessMissing(() => listAll(api, { path, fieldSelector }, schema, context)));
  };
  const listing = Object.entries(lists).map(async ([kind, [what, address, schema]]) => {
    const found = await readList(address, schema);
    onRead(what);
    return [kind, found];
  });
  const read: Listed = Object.fromEntries(await Promise.all(listing));
  const isAuto = isAutoMode(read);
  const more: Listed["events"] = isAuto ? Object(await readList(autoModeEvents, objects.eventSchema)) : [];
  const listed = isMissing(read.events) ? read : { ...read, events: [...read.events, ...orNone(more)] };
  const { pods } = listed;
  const controllers = orNone(pods).filter(isKarpenters);
  const none = { missing: isAuto ? outside : whyNoController(pods) };
  const ofEach = async (what: string, read: ReadPod): Promise<Read<Text>> => {
    if (controllers.length === 0) return none;
    const asked = { deadline: after(new Date(), longest), onText: (piece: number) => onRead(what, piece) };
    const found = await unlessMissing(() => readEach(controllers, (pod) => read(api, pod, asked)));
    onRead(what);
    return found;
  };
  const [log, metrics] = await Promise.all([
    ofEach("Karpenter's log", readLog),
    ofEach("Karpenter's metrics", readMetrics),
  ]);
  const karpenter = versionOf(controllers) ?? {
    missing: isAuto ? outside : "no image of Karpenter with a version",
  };
  return { ...listed, readAt: now, log, metrics, karpenter };
}

/** Why Karpenter's log, metrics and version are missing there. */
export const outside = "EKS Auto Mode runs Karpenter outside of the cluster";
const whyNoController = (pods: Listed["pods"]): string =>
  isMissing(pods) ? `no pods: ${pods.missing}` : "no pod with the label of Karpenter's chart";

const isAutoMode = ({ nodePools, nodes }: Listed): boolean =>
  orNone(nodePools).some(objects.isOfAutoMode) ||
  orNone(nodes).some(({ metadata }) => metadata.labels["eks.amazonaws.com/compute-type"] === "auto");

async function unlessMissing<T>(work: () => Promise<T>, ifUnknown?: () => T): Promise<Read<T>> {
  try {
    return await work();
  } catch (error) {
    if (isStatus(error, 403)) return { missing: "no right (403)" };
    if (isStatus(error, 404)) return ifUnknown?.() ?? { missing: "unknown to this cluster (404)" };
    return { missing: messageOf(error).slice(0, 200) };
  }
}

type List = Readonly<{ path: string; fieldSelector?: string }>;

/** Every object that the schema can read. */
export async function listAll<T>(
  api: KubernetesCaller,
  { path, fieldSelector }: List,
  schema: v.GenericSchema<unknown, T>,
  context: Deadline,
): Promise<readonly T[]> {
  const ask = (page: PageQuery) =>
    api.call({ method: "GET", path, query: { ...page, ...(fieldSelector && { fieldSelector }) } }, context);
  const found: T[] = [];
  for await (const { items } of pagesOf(ask, 500)) {
    for (const item of items) {
      const { success, output } = v.safeParse(schema, item);
      if (success) found.push(output);
    }
  }
  return found;
}
