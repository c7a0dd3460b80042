import { after, minutes, seconds } from "../../../lambda/core/duration.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import type { World } from "../../../simulator/world.ts";
import { must } from "./must.ts";

/** Far more calls than an invocation needs, per node and in total. */
const mostCalls = { forEachNode: 12, besides: 120 };

/** No call is retried for ever, and no message comes back without a pause. */
export function checkBounds(world: World, by: Invocation, call: string): void {
  const { calls, settings, skew, begunAt } = by;
  const most = mostCalls.besides + mostCalls.forEachNode * world.nodes.all().length;
  must(calls <= most, "an invocation makes a bounded number of calls", () => ({ calls, most }));
  const message = world.queue.messages.at(-1);
  if (call !== "enqueue" || !message || message.sentAt < world.time) return;
  const { followUp } = JSON.parse(message.body);
  if (!followUp) return;
  const delay = message.visibleAt.getTime() - message.sentAt.getTime();
  must(delay > 0, "a message that comes again pauses", () => followUp);
  const isLater = followUp.kind !== "scope" || delay >= seconds(10);
  must(isLater, "a scope is looked at again in ten seconds", () => followUp);
  if (followUp.kind === "scope") return;
  const oldest = after(begunAt, -minutes(10) - settings.initialDelay - minutes(2) - Math.abs(skew));
  const isYoung = new Date(followUp.firstSeenAt) >= oldest;
  must(isYoung, "an unknown launch is looked up for ten minutes", () => followUp);
}
