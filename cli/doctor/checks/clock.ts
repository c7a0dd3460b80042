import { type Duration, seconds } from "../../../lambda/core/duration.ts";
import { about } from "../../terminal/times.ts";
import { type Finding, ok, warn } from "../finding.ts";

/** When a moment of another clock was taken between two of ours. */
export type Bracket = Readonly<{ before: Date; at: Date; after: Date }>;

const tolerable: Duration = seconds(30);

/** How far the other clock is ahead of ours at least; a difference that the round trip explains counts as none. */
export function skewOf({ before, at, after }: Bracket): Duration {
  if (at < before) return at.getTime() - before.getTime();
  return at > after ? at.getTime() - after.getTime() : 0;
}

/** This machine, the functions and the cluster agree on what time it is. */
export function checkClocks(functions: Bracket, clusterTime: Date | undefined): Finding[] {
  const here = skewOf(functions);
  const findings: Finding[] = [];
  if (Math.abs(here) > tolerable) {
    const what = `this machine's clock is ${about(Math.abs(here))} ${here > 0 ? "behind" : "ahead of"} the functions'`;
    findings.push(
      warn("clock", what, "Set it right (NTP): AWS refuses signatures that are five minutes off."),
    );
  }
  // The cluster writes whole seconds, and answered some time after the check began.
  const rest = functions.after.getTime() - functions.before.getTime() + seconds(1);
  const there = clusterTime ? clusterTime.getTime() - functions.at.getTime() : 0;
  if (there > tolerable + rest || there < -tolerable) {
    const what = `the cluster's clock is ${about(Math.abs(there))} ${there > 0 ? "ahead of" : "behind"} the functions'`;
    const remedy =
      "The sweep compares nodes' ages with the functions' clock: ask who runs the control plane.";
    findings.push(warn("clock", what, remedy));
  }
  return findings.length > 0 ? findings : [ok("clock", "this machine, the functions and the cluster agree")];
}
