import { setTimeout as wait } from "node:timers/promises";
import { type Duration, minutes, seconds } from "../core/duration.ts";
import type { Clock } from "../core/ports.ts";
import type { KubernetesCaller } from "../kubernetes/client.ts";
import { isStatus } from "../kubernetes/error.ts";

type NewAdminOptions = Readonly<{
  api: KubernetesCaller;
  clock: Clock;
  sleep?: (duration: Duration) => Promise<void>;
}>;

const known: Duration = minutes(2);
const pause: Duration = seconds(2);

/**
 * Calls the cluster as a role that became an admin a moment ago. The API servers learn this one after the other, so a
 * refusal may follow a success: for the first minutes each refused call is retried.
 */
export function newAdmin({ api, clock, sleep = wait }: NewAdminOptions): KubernetesCaller {
  let since: Date | undefined;
  return {
    async call(call, context) {
      since ??= clock.now();
      const until = Math.min(since.getTime() + known, context.deadline.getTime());
      for (;;) {
        try {
          return await api.call(call, context);
        } catch (error) {
          if (!isRefusal(error) || clock.now().getTime() + pause >= until) throw error;
          await sleep(pause);
        }
      }
    },
  };
}

const isRefusal = (error: unknown): boolean =>
  isStatus(error, 401, 403) || (error instanceof Error && isStatus(error.cause, 401, 403));
