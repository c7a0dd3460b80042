import { table } from "../../cli/terminal/text.ts";
import { accountChecks } from "./account.ts";
import { deployedChecks, destroyCheck, everyLink, launchChecks, marksCheck } from "./holder.ts";
import { criteria } from "./ledger/criteria.ts";
import { recordingCheck } from "./ledger/recorders.ts";
import { leftoversCheck } from "./leftovers.ts";
import { type Assumption, type Check, notLookedAt, type Row } from "./smoke.ts";

type Part = "the account" | "the holder at work" | "destroying the holder";

/** What a run looks at, in this order. */
export const checksOf = (hasLedger: boolean): Readonly<Record<Part, readonly Check[]>> => ({
  "the account": accountChecks,
  "the holder at work": [...deployedChecks, ...(hasLedger ? [recordingCheck] : launchChecks)],
  "destroying the holder": [destroyCheck, leftoversCheck, marksCheck],
});

/** What looks at an assumption, where something does: a run, also by a setting that it deploys with. */
type Listed = Assumption & Readonly<{ shownBy?: string; setting?: string }>;

const bySetting = (setting: string, value: string, assumption: string): Listed => ({
  ...{ assumption, expected: everyLink },
  ...{ shownBy: `a run with -c ${setting}=${value}`, setting },
});

const shownBy = (run: string, checks: readonly Assumption[]): readonly Listed[] =>
  checks.map(({ assumption, expected }) => ({ assumption, expected, shownBy: run }));

/** What only a real account can show. */
const whole: readonly Listed[] = [
  ...shownBy("a whole run", [...accountChecks, ...deployedChecks]),
  ...shownBy("a run without --ledger", launchChecks),
  ...shownBy("a run with --ledger", [
    recordingCheck,
    ...criteria.map(({ text, limit }) => ({ assumption: text, expected: limit })),
  ]),
  ...shownBy("a whole run", [destroyCheck, leftoversCheck]),
  ...shownBy("a run with --kubeconfig", [marksCheck]),
  bySetting("rolePath", "/PATH/", "rolePath: EKS accepts the access entry of a role with a path"),
  bySetting("kmsKeyArn", "ARN", "key: AWS services can use one of your own"),
  bySetting("vpc", "SUBNET,GROUP", "vpc: functions in your subnets reach the cluster and AWS"),
  {
    assumption: "vpc: AWS removes the functions' network interfaces after a destroy",
    expected: "none 40 minutes later",
  },
  {
    assumption: "cluster-access: lambda:SourceFunctionArn and eks:username limit its role to its own calls",
    expected: "other calls are denied",
  },
  {
    assumption: "EKS Auto Mode: a launch starts a hold",
    expected: "as on other clusters",
    shownBy: "a run on such a cluster",
  },
  { assumption: "alarms: one reaches its topic", expected: "a message" },
  {
    assumption: "Slack or Microsoft Teams: a channel receives the events",
    expected: "as the example sends them",
  },
  { assumption: "updates: one that fails leaves the holder at work", expected: "a rollback" },
];

/** What looks at each, for the help. */
export const listLines = (): readonly string[] =>
  table([
    ["ASSUMPTION", "EXPECTED", "LOOKED AT BY"],
    ...whole.map(({ assumption, expected, shownBy: run = "not looked at" }) => [assumption, expected, run]),
  ]);

/** The whole list, with what was seen in a run with these settings. */
export function wholeList(seen: readonly Row[], context: readonly string[] = []): readonly Row[] {
  const rowOf = (name: string) => seen.find(({ assumption }) => assumption === name);
  const isSet = (setting: string) => context.some((one) => one.startsWith(`${setting}=`));
  return whole.map(({ assumption, expected, setting, shownBy: run }) => {
    const found = rowOf(assumption) ?? (setting && isSet(setting) ? rowOf(everyLink) : undefined);
    return { ...(found ?? notLookedAt(run && `${run} does`)), assumption, expected };
  });
}
