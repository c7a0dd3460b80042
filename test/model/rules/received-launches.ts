import type { LaunchEvent } from "../../../lambda/core/ports.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import { parseMessage } from "../../../lambda/handlers/events.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import type { World } from "../../../simulator/world.ts";
import { isCovered, scopeFor } from "./oracle.ts";

/** The launches that an invocation must decide on, with the scope that each holds. */
export function receivedLaunches(
  { ec2 }: World,
  { messages, settings: rules }: Invocation,
): readonly Readonly<{ scope: Scope; launch: LaunchEvent }>[] {
  const launches = messages.flatMap(({ body }) => {
    const message = parseMessage(body);
    if (message.kind === "launch" && rules.initialDelay === 0) return [message.launch];
    return message.kind === "followUp" && message.followUp.kind === "launches"
      ? message.followUp.launches
      : [];
  });
  return launches.flatMap((launch) => {
    const pool = ec2.instances.get(launch.instance)?.nodePool;
    const isKnown = isCovered(rules, pool) && !ec2.unlisted.has(launch.instance);
    return isKnown ? [{ scope: scopeFor(rules, pool), launch }] : [];
  });
}
