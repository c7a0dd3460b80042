import { scheduleName } from "../../lambda/aws/scheduler-releases.ts";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import {
  ago,
  cappedOn,
  gone,
  groupsOfHold,
  holding,
  inRecord,
  insideCluster,
  schedulesAre,
  swept,
  timerIs,
  withRules,
} from "./differing.ts";
import { noRight, type Row } from "./doctor-damage.ts";
import { aHeldScope } from "./healthy-account.ts";

const { nextLook: _, ...beginning } = aHeldScope;
const late = { holds: [{ ...aHeldScope, until: ago(minutes(9)) }], lastSweep: ago(hours(1)) };

/** What nothing that should have ended follows from. */
const causes: readonly Row[] = [
  ["an access entry is gone", groupsOfHold()],
  ["no function can write to the record", { check: { write: noRight } }],
  ["the cluster refuses the login", insideCluster({ works: false, because: "refused the login (401)" })],
  ["a right is missing", insideCluster({ missingRights: ["get nodes", "patch nodes"] })],
  ["the policy is missing", insideCluster({ foreignChange: "admitted" })],
  ["nothing wakes the sweep", timerIs()],
];
const consequences = causes.map(
  ([how, { check, ...rest }]): Row => [
    `nothing ends in time, and ${how}`,
    { ...rest, check: { ...(typeof check === "object" && check), record: late } },
  ],
);

/** What doctor prints of holds and sweeps. */
export const ofHolds: readonly Row[] = [
  ...consequences,
  ["a hold ends", holding({ until: ago(minutes(2)), nextLook: ago(minutes(2)) })],
  ["a hold ends soon", holding({ until: after(noon, minutes(2)), nextLook: after(noon, minutes(2)) })],
  [
    "a hold lasts as long as a setting allows",
    holding({ until: after(noon, hours(168) + minutes(2)), nextLook: after(noon, minutes(1)) }),
  ],
  ["a hold is being released", holding({ state: "releasing" })],
  [
    "a new hold is not in the record yet",
    {
      ...inRecord({ holds: [beginning] }),
      ...schedulesAre({ name: scheduleName(beginning.id, beginning.until) }),
    },
  ],
  [
    "a hold has no one-shot, and their group is gone",
    { ...inRecord({ holds: [aHeldScope] }), schedules: gone },
  ],
  [
    "two holds have none",
    { ...inRecord({ holds: [aHeldScope, { ...beginning, scope: "nodepool/batch" }] }), ...schedulesAre() },
  ],
  ["a sweep has been missed", swept(minutes(12))],
  ["sweeps are rare", withRules({ sweepEvery: hours(1) })],
  ["holds reached their cap on two days of the week", withRules({ auto: false }), cappedOn(1, 1.1, 2, 7, 8)],
  ["holds reached their cap until they were of hold=auto", {}, cappedOn(1, 2, 3)],
  ["holds have a cap, and cannot be read", { check: { rules: { auto: false }, record: noRight } }],
  ["holds have no cap now", withRules({ auto: false, maxHold: 0 }), cappedOn(1, 2, 3)],
  ["history cannot be read", withRules({ auto: false }), { history: [{}] }],
];
