import { after, type Duration, minutes } from "../../../lambda/core/duration.ts";
import { parseMessage } from "../../../lambda/handlers/events.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import type { World } from "../../../simulator/world.ts";
import { mostSkew } from "../commands.ts";
import { must } from "./watcher.ts";

/** The longest time for which a launch or a node is awaited. */
const longestWait: Duration = minutes(10);
/** Far more calls than an invocation needs, per node and in total. */
const mostCalls = { forEachNode: 40, besides: 80 };

/** No call is retried for ever or without a pause. */
export function checkBounds(world: World, invocation: Invocation, call: string): void {
  const { calls, settings, skew } = invocation;
  const limit = mostCalls.besides + mostCalls.forEachNode * world.nodes.all().length;
  must(calls <= limit, "an invocation makes a bounded number of calls", () => ({ calls, limit }));
  if (call !== "enqueue") return;
  const message = world.queue.messages.at(-1);
  // Where the call was refused, the last message is another's.
  if (!message || message.sentAt < world.time) return;
  const parsed = parseMessage(message.body);
  if (parsed?.kind !== "followUp") return;
  const { followUp } = parsed;
  const { throttledSince } = world;
  const isThrottled = throttledSince !== undefined && invocation.begunAt > throttledSince;
  const isPause = message.visibleAt > message.sentAt;
  must(!isThrottled || isPause, "a throttled call is not repeated at once", () => followUp);
  // The first message may be late.
  if (followUp.attempt <= 1) return;
  // A call may take long: the age was computed after the function began.
  const oldest = after(invocation.begunAt, -(longestWait + settings.initialDelay + 2 * mostSkew + skew));
  const facts = () => followUp;
  if (followUp.kind === "launches")
    must(followUp.firstSeenAt >= oldest, "an unknown launch is looked up for ten minutes", facts);
  else
    for (const { launchedAt } of followUp.awaited)
      must(launchedAt >= oldest, "a node is awaited for ten minutes", facts);
}
