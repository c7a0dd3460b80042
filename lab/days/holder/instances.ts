import { createHash } from "node:crypto";
import type { Instance, Launch, Launches } from "../../../lambda/core/ports.ts";
import { wholeSecond } from "../../../simulator/fake-ec2.ts";

/** A launch as the engine reports it: `instance` is the node's provider id. */
export type EngineLaunch = Readonly<{ instance: string; nodePool: string; launchedAt: number }>;

/** Karpenter's kwok provider names instances after their nodes; the holder knows them as EC2 does. */
export const instanceIdOf = (providerId: string): string =>
  `i-${createHash("sha256").update(providerId).digest("hex").slice(0, 17)}`;

/** An answer about nodes or NodeClaims with the provider ids that AWS would give. */
export function withAwsIds(body: unknown): unknown {
  if (!isObject(body)) return body;
  if (Array.isArray(body.items)) return { ...body, items: body.items.map(withAwsIds) };
  const { spec, status } = body;
  return {
    ...body,
    ...(isObject(spec) && { spec: withAwsId(spec) }),
    ...(isObject(status) && { status: withAwsId(status) }),
  };
}

type JsonObject = Readonly<Record<string, unknown>>;

const withAwsId = (fields: JsonObject): JsonObject =>
  typeof fields.providerID === "string" && fields.providerID !== ""
    ? { ...fields, providerID: `aws:///zone-a/${instanceIdOf(fields.providerID)}` }
    : fields;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** EC2 as far as the holder asks it, answered from what the engine reported. */
export class ReportedInstances implements Launches {
  readonly #instances = new Map<string, Launch>();

  /** Keeps a launch, and returns it as EC2 knows it. */
  add({ instance, nodePool, launchedAt }: EngineLaunch): Launch {
    const launch = {
      instance: instanceIdOf(instance),
      launchedAt: wholeSecond(new Date(launchedAt)),
      nodePool,
    };
    this.#instances.set(launch.instance, launch);
    return launch;
  }

  remove(providerId: string): void {
    this.#instances.delete(instanceIdOf(providerId));
  }

  async find(instances: readonly string[]): Promise<ReadonlyMap<string, Instance>> {
    const known = instances.flatMap((id) => this.#instances.get(id) ?? []);
    return new Map(known.map(({ instance: id, launchedAt, nodePool }) => [id, { id, launchedAt, nodePool }]));
  }

  async since(moment: Date): Promise<readonly Launch[]> {
    return [...this.#instances.values()].filter(({ launchedAt }) => launchedAt >= moment);
  }
}
