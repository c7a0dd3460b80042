"""Metrics and alarms as CloudWatch evaluates them.

MiniStack stores both, but it does not read metrics from log lines, has no metrics of queues, counts only synchronous
invocations, and evaluates alarms by the metric's name alone, without dimensions, periods and the rule for missing data.
This file replaces that. What is still simpler than AWS: every metric is available at once, and alarms are evaluated every
second.
"""

import json
import operator
import os
import pathlib
import threading
import time
import traceback

from ministack.core import lambda_runtime
from ministack.services import cloudwatch, cloudwatch_logs, lambda_svc, sqs

# Seconds by which CloudWatch's clock is ahead of all others, so that tests need not wait for an alarm's periods.
ahead = pathlib.Path(os.environ["CLOUDWATCH_AHEAD"])


def seconds_ahead():
    return float(ahead.read_text())


def record(namespace, name, dimensions, values, unit="Count", at=None):
    key = (namespace, name, cloudwatch._dims_key(dimensions))
    moment = (at or time.time()) + seconds_ahead()
    points = [{"Timestamp": moment, "Value": float(each), "Unit": unit, "Dimensions": dimensions} for each in values]
    cloudwatch._metric_bucket(key).extend(points)


def record_embedded(line):
    """https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html"""
    try:
        entry = json.loads(line)
    except ValueError:
        return
    about = entry.get("_aws") if isinstance(entry, dict) else None
    for directive in (about or {}).get("CloudWatchMetrics", []):
        for names in directive["Dimensions"]:
            dimensions = {name: entry.get(name) for name in names}
            # AWS ignores a dimension set when the line has no text value for one of its names.
            if not all(isinstance(value, str) for value in dimensions.values()):
                continue
            for metric in directive["Metrics"]:
                found = entry.get(metric["Name"], [])
                values = found if isinstance(found, list) else [found]
                unit = metric.get("Unit", "None")
                record(directive["Namespace"], metric["Name"], dimensions, values, unit, about["Timestamp"] / 1000)


def read_embedded_metrics():
    append = cloudwatch_logs._append_log_events

    def append_and_record(stream, events):
        append(stream, events)
        for event in events:
            record_embedded(event["message"])

    cloudwatch_logs._append_log_events = append_and_record


def count_invocations():
    """Counts every invocation, including those of queues and schedules, and every retry."""
    run = lambda_svc._execute_function_dispatch

    def run_and_count(func, config, *rest):
        result = run(func, config, *rest)
        dimensions = {"FunctionName": config["FunctionName"]}
        record("AWS/Lambda", "Invocations", dimensions, [1])
        record("AWS/Lambda", "Errors", dimensions, [1 if result.get("error") else 0])
        return result

    lambda_svc._execute_function_dispatch = run_and_count
    lambda_svc._emit_lambda_metrics = lambda *_, **__: None


def wait_for_last_lines():
    """MiniStack stops reading a function's log after 5 ms without a line, and the rest would count for the next invocation."""
    first_line_wait, idle_confirm, hard_cap = 0.2, 0.1, 2.0
    lambda_runtime.Worker._drain_stderr_bounded.__defaults__ = (first_line_wait, idle_confirm, hard_cap)


def measure_queues():
    for queue in list(sqs._queues.values()):
        sqs._refresh_counts(queue)
        visible = int(queue["attributes"]["ApproximateNumberOfMessages"])
        record("AWS/SQS", "ApproximateNumberOfMessagesVisible", {"QueueName": queue["name"]}, [visible])


comparisons = {
    "GreaterThanThreshold": operator.gt,
    "GreaterThanOrEqualToThreshold": operator.ge,
    "LessThanThreshold": operator.lt,
    "LessThanOrEqualToThreshold": operator.le,
}


def breaches(alarm):
    """Yields a result for each period that has data, newest first. CloudWatch reads more periods than it evaluates."""
    dimensions = cloudwatch._dims_key(cloudwatch._dims_from_list(alarm["Dimensions"]))
    points = cloudwatch._metrics.get((alarm["Namespace"], alarm["MetricName"], dimensions)) or []
    statistic = alarm["ExtendedStatistic"] or alarm["Statistic"]
    period = alarm["Period"]
    end = time.time() + seconds_ahead()
    for _ in range(alarm["EvaluationPeriods"] + 2):
        within = [each for each in points if end - period < each["Timestamp"] <= end]
        if within:
            value = cloudwatch._stat_value(cloudwatch._calc_stats(within), statistic, within)
            yield comparisons[alarm["ComparisonOperator"]](value, alarm["Threshold"])
        end -= period


def state_of(alarm):
    """Periods with data count first; the rule for missing data only fills up the remaining periods.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
    """
    missing = {"breaching": True, "notBreaching": False}[alarm["TreatMissingData"]]
    periods = alarm["EvaluationPeriods"]
    evaluated = [*breaches(alarm), *[missing] * periods][:periods]
    return "ALARM" if sum(evaluated) >= alarm.get("DatapointsToAlarm", periods) else "OK"


def evaluate(alarm):
    old, new = alarm["StateValue"], state_of(alarm)
    if old == new:
        return
    reason = f"{alarm['MetricName']} {alarm['ComparisonOperator']} {alarm['Threshold']}"
    alarm.update(StateValue=new, StateReason=reason, StateUpdatedTimestamp=int(time.time()))
    cloudwatch._record_history(alarm["AlarmName"], old, new, reason)
    cloudwatch._dispatch_alarm_actions(alarm, old, new, reason)


def watch():
    while True:
        time.sleep(1)
        try:
            measure_queues()
            for alarm in list(cloudwatch._alarms.values()):
                evaluate(alarm)
        except Exception:  # for example a table changed while it was read; the next evaluation reads it again
            traceback.print_exc()


def begin():
    read_embedded_metrics()
    count_invocations()
    wait_for_last_lines()
    cloudwatch._evaluate_alarm = lambda _alarm: None
    # No metric here gets two weeks old, and MiniStack loses new points while it deletes old ones.
    cloudwatch._evict_old_metrics = lambda: None
    threading.Thread(target=watch, daemon=True).start()
