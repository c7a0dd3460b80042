import { type Duration, formatDuration, minutes } from "../../lambda/core/duration.ts";
import type { Clock, Log } from "../../lambda/core/ports.ts";

/** A smaller difference is harmless, unless holds are very short. */
const longestAhead: Duration = minutes(1);

/** The cluster's clock dates nodes, so a hold is shorter by what ours is ahead. One that is behind adds a minute at most. */
export function clockCheck({ clock, hold, log }: Readonly<{ clock: Clock; hold: Duration; log: Log }>) {
  let isAhead = false;
  return (serverTime: Date) => {
    const wasAhead = isAhead;
    const ahead = clock.now().getTime() - serverTime.getTime();
    isAhead = ahead > Math.min(longestAhead, hold / 2);
    if (wasAhead || !isAhead) return;
    const remedy = "set the clock of this machine, for example by NTP";
    const fields = { ahead: formatDuration(ahead), remedy };
    log.error("the clock is ahead of the cluster's: holds end too early, or none begins", fields);
  };
}
