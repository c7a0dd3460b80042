import { Duration } from "aws-cdk-lib";
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IAlarm,
  type IMetric,
  type IWidget,
  Stats,
} from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import { dashboardName } from "../names.ts";
import type { MetricOf } from "./metrics.ts";

type Shown = Readonly<{
  name: string;
  metric: MetricOf;
  alarms: readonly IAlarm[];
}>;

/** What an operator sees after an alarm, or out of interest. */
export class HolderDashboard extends Construct {
  readonly name: string;

  constructor(scope: Construct, id: string, { name, metric, alarms }: Shown) {
    super(scope, id);
    this.name = dashboardName(name);
    const count = (name: Parameters<MetricOf>[0], label: string) => metric(name, Stats.SUM, label);
    new Dashboard(this, "Dashboard", {
      dashboardName: this.name,
      defaultInterval: Duration.hours(12),
      widgets: [
        [
          new AlarmStatusWidget({
            title: `Node holder of ${name}`,
            alarms: [...alarms],
            width: 24,
            height: 3,
          }),
        ],
        [
          graph("Launches", [count("LaunchesSeen", "seen"), count("LaunchesIgnored", "that held nothing")]),
          graph("Holds", [
            count("HoldsStarted", "started"),
            count("HoldsExtended", "extended"),
            count("HoldsCapped", "capped"),
            metric("HoldActive", Stats.MAXIMUM, "active"),
          ]),
          graph("Nodes", [
            metric("NodesHeldNow", Stats.MAXIMUM, "held"),
            count("NodesHeld", "marked"),
            count("NodesReleased", "released"),
          ]),
        ],
        [
          graph("Nodes that no longer pay", [
            count("NodesLetGo", "let go"),
            count("NodesSpared", "needed again"),
            count("EvictionsSpared", "evictions spared, at most"),
          ]),
          graph("Superfluous time, ms", [count("SuperfluousMs", "of held nodes")]),
        ],
        [
          graph("From launch to protected, ms", percentiles(metric, "LaunchToProtectedMs")),
          graph("Release later than due, ms", percentiles(metric, "ReleaseLagMs")),
          graph("Repairs and failures", [
            count("MissedLaunches", "launches whose event was lost"),
            count("OrphansFound", "orphaned marks"),
            count("RightsMissing", "rights missing in the cluster"),
            count("UnreadableRecords", "unreadable records"),
            count("EventsFailed", "events that were not sent"),
            count("NodePatchFailures", "failed patches"),
            count("ApiThrottled", "throttled calls"),
          ]),
        ],
      ],
    });
  }
}

const graph = (title: string, left: IMetric[]): IWidget =>
  new GraphWidget({ title, left, width: 8, height: 6 });

const percentiles = (metric: MetricOf, name: "LaunchToProtectedMs" | "ReleaseLagMs"): IMetric[] =>
  ["p50", "p90", "p99"].map((statistic) => metric(name, statistic, statistic));
