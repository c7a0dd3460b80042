import { after, type Duration, earlier, seconds } from "../core/duration.ts";
import { holderName } from "../core/marks/keys.ts";
import type { CallContext, Clock, Metrics, NodeEvent, NodeEvents } from "../core/ports.ts";
import { type NodeEventSettings, writesNodeEvents } from "../core/rules.ts";
import type { KubernetesCaller } from "./client.ts";
import { isStatus } from "./error.ts";
import { forEachConcurrent } from "./for-each-concurrent.ts";
import { inFlight } from "./transport.ts";

export type KubernetesNodeEventsOptions = Readonly<{ api: KubernetesCaller; clock: Clock; metrics: Metrics }>;

/** Where Events about objects without a namespace are. */
export const eventsNamespace = "default";
const path = `/api/v1/namespaces/${eventsNamespace}/events`;

/** A pass writes no more: the cluster stores Events of all of its parts for an hour. */
export const mostEvents = 200;
/** A pass waits no longer for its Events. */
const longestWrite: Duration = seconds(3);
const longestMessage = 1_024;

/** Events about nodes in a real cluster; undefined where the settings do not ask for them. */
export const nodeEventsFor = (
  settings: NodeEventSettings,
  options: KubernetesNodeEventsOptions,
): NodeEvents | undefined => (writesNodeEvents(settings) ? new KubernetesNodeEvents(options) : undefined);

class KubernetesNodeEvents implements NodeEvents {
  readonly #options: KubernetesNodeEventsOptions;
  #noted: readonly NodeEvent[] = [];

  constructor(options: KubernetesNodeEventsOptions) {
    this.#options = options;
  }

  note(event: NodeEvent): void {
    this.#noted = [...this.#noted, event];
  }

  /** After the first that cannot be written no other is tried: what is missing is logged once. */
  async write(context: CallContext): Promise<void> {
    const { clock, metrics } = this.#options;
    const noted = this.#noted;
    this.#noted = [];
    const deadline = earlier(context.deadline, after(clock.now(), longestWrite));
    let written = 0;
    let failure: Readonly<{ error: unknown }> | undefined;
    const create = async (event: NodeEvent) => {
      await this.#create(event, { deadline });
      written += 1;
    };
    await forEachConcurrent(noted.slice(0, mostEvents), inFlight, create).catch((error: unknown) => {
      failure = { error };
      if (isStatus(error, 403)) metrics.add("RightsMissing", 1);
    });
    const missing = noted.length - written;
    if (missing > 0)
      context.log.warn("not every Event about a node was written", { written, missing, ...failure });
  }

  async #create(event: NodeEvent, context: Pick<CallContext, "deadline">): Promise<void> {
    try {
      const body = objectOf(event);
      await this.#options.api.call({ method: "POST", path, body, ignoresAnswer: true }, context);
    } catch (error) {
      // The answer of an earlier attempt was lost.
      if (!isStatus(error, 409)) throw error;
    }
  }
}

function objectOf({ node: { name, uid }, reason, message, at }: NodeEvent) {
  const time = at.toISOString().replace(/\.\d+Z$/, "Z");
  return {
    apiVersion: "v1",
    kind: "Event",
    // The same at each attempt, so that a retry writes no second one.
    metadata: { name: `${name}.${at.getTime().toString(16)}`, namespace: eventsNamespace },
    // By its own uid, like Karpenter's: `kubectl describe node` looks for that, and a later node of the name has another.
    involvedObject: { apiVersion: "v1", kind: "Node", name, uid },
    ...{ type: "Normal", reason, message: message.slice(0, longestMessage) },
    ...{ source: { component: holderName }, reportingComponent: holderName },
    ...{ firstTimestamp: time, lastTimestamp: time, count: 1 },
  };
}
