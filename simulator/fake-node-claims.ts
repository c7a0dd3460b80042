import { after, type Duration, hours } from "../lambda/core/duration.ts";
import { Karpenter } from "../lambda/core/marks/keys.ts";
import type { Clock, NodeClaim } from "../lambda/core/ports.ts";
import type { KubernetesCall } from "../lambda/kubernetes/client.ts";
import { explained, KubernetesError } from "../lambda/kubernetes/error.ts";
import { parseLabelSelector } from "./fake-kubernetes/label-selector.ts";

type Stored = NodeClaim & Readonly<{ nodePool: string }>;

/** How long an API server keeps events. */
const eventsKept: Duration = hours(1);
const claimsPath = /^\/apis\/karpenter\.sh\/(v1|v1beta1)\/nodeclaims$/;
const eventsPath = "/api/v1/namespaces/default/events";
const { poolLabel } = Karpenter.v1;

/** Karpenter's NodeClaims and events, as the API server answers; a cluster without any, unless a test adds one. */
export class FakeNodeClaims {
  readonly claims = new Map<string, Stored>();
  /** Which NodeClaims an event names as replacements, and when Karpenter writes it. */
  readonly events = new Map<string, Date>();
  /** Refuses every list: 403 without the rights, 404 where there are no NodeClaims. */
  refusedWith: 403 | 404 | undefined = 404;
  /** Karpenter before v1.0 serves v1beta1, which does not record use. */
  version: "v1" | "v1beta1" = "v1";
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds a NodeClaim, as Karpenter creates it; pods run only on nodes that have joined. */
  add(claim: NodeClaim & Readonly<{ nodePool?: string }>): void {
    if (this.refusedWith === 404) this.refusedWith = undefined;
    const joined = claim.lastPodEventAt && { joinedAt: claim.createdAt };
    this.claims.set(claim.name, { nodePool: "default", ...joined, ...claim });
  }

  /** A pod was scheduled to this NodeClaim's node, removed from it or finished on it. */
  use(name: string): void {
    const claim = this.claims.get(name);
    const now = this.#clock.now();
    if (claim) this.claims.set(name, { ...claim, joinedAt: claim.joinedAt ?? now, lastPodEventAt: now });
  }

  /** Whether the API server still has an event that names this NodeClaim as a replacement. */
  isNamed(name: string, now: Date): boolean {
    const at = this.events.get(name);
    return at !== undefined && at <= now && now < after(at, eventsKept);
  }

  static answers({ path }: KubernetesCall): boolean {
    return path === eventsPath || claimsPath.test(path);
  }

  /** Answers a list of NodeClaims or of the events about replacements. */
  answer({ path, query = {} }: KubernetesCall): unknown {
    const [, version] = claimsPath.exec(path) ?? [];
    const isUnknown = version !== undefined && version !== this.version;
    const status = this.refusedWith ?? (isUnknown ? 404 : undefined);
    if (status) throw explained(new KubernetesError(`GET ${path}`, status, {}));
    const items = version === undefined ? this.#events() : this.#claims(query);
    return { items, metadata: { resourceVersion: "1" } };
  }

  #events(): readonly unknown[] {
    const now = this.#clock.now();
    return [...this.events]
      .filter(([name]) => this.isNamed(name, now))
      .map(([name, at]) => ({ metadata: { creationTimestamp: text(at) }, involvedObject: { name } }));
  }

  #claims({ labelSelector = "" }: Readonly<Record<string, string>>): readonly unknown[] {
    const labels = parseLabelSelector(labelSelector);
    return [...this.claims.values()]
      .filter(({ nodePool }) => labels({ [poolLabel]: nodePool }))
      .map(({ name, createdAt, instance, node, joinedAt, driftedAt, lastPodEventAt, isDeleted }) => ({
        metadata: {
          ...{ name, creationTimestamp: text(createdAt) },
          ...(isDeleted && { deletionTimestamp: text(createdAt) }),
        },
        status: {
          ...(node && { nodeName: node }),
          ...(instance && { providerID: `aws:///eu-central-1a/${instance}` }),
          conditions: [...since("Registered", joinedAt), ...since("Drifted", driftedAt)],
          ...(lastPodEventAt && this.version === "v1" && { lastPodEventTime: text(lastPodEventAt) }),
        },
      }));
  }
}

const since = (type: string, at: Date | undefined) =>
  at ? [{ type, status: "True", lastTransitionTime: text(at) }] : [];

/** The API server keeps whole seconds. */
const text = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, "Z");
