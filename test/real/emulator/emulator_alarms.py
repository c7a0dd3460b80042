"""Metrics and alarms as CloudWatch has them.

MiniStack keeps both, but it makes no metrics of the lines in which functions embed them, tells nothing of queues, counts only
invocations that somebody waits for, and lets any metric of the right name set an alarm off, whatever its dimensions, periods
and missing data. That is replaced here. What is still simpler than AWS: every metric is there at once, and alarms are looked
at every second.
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

# Seconds by which CloudWatch's clock is ahead of all others: nobody has to wait for an alarm's periods to pass.
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
            # What a dimension stands for must be in the line; AWS takes nothing else.
            if not all(isinstance(value, str) for value in dimensions.values()):
                continue
            for metric in directive["Metrics"]:
                told = entry.get(metric["Name"], [])
                values = told if isinstance(told, list) else [told]
                unit = metric.get("Unit", "None")
                record(directive["Namespace"], metric["Name"], dimensions, values, unit, about["Timestamp"] / 1000)


def take_embedded_metrics():
    append = cloudwatch_logs._append_log_events

    def append_and_record(stream, events):
        append(stream, events)
        for event in events:
            record_embedded(event["message"])

    cloudwatch_logs._append_log_events = append_and_record


def count_invocations():
    """Every one, also those of queues and schedules, and every try that is made again."""
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
    """MiniStack takes what a function said after five quiet milliseconds for all; the rest would be the next invocation's."""
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
    """Of each period that has data, newest first. CloudWatch looks further back than the periods it judges by."""
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
    """Data that is there counts before data that is missing, which only fills what is then left.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
    """
    missing = {"breaching": True, "notBreaching": False}[alarm["TreatMissingData"]]
    periods = alarm["EvaluationPeriods"]
    judged = [*breaches(alarm), *[missing] * periods][:periods]
    return "ALARM" if sum(judged) >= alarm.get("DatapointsToAlarm", periods) else "OK"


def look_at(alarm):
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
                look_at(alarm)
        except Exception:  # among others of tables that change while they are read; the next look sees them whole
            traceback.print_exc()


def begin():
    take_embedded_metrics()
    count_invocations()
    wait_for_last_lines()
    cloudwatch._evaluate_alarm = lambda _alarm: None
    # Nothing here becomes two weeks old, and while old points are thrown away new ones are lost.
    cloudwatch._evict_old_metrics = lambda: None
    threading.Thread(target=watch, daemon=True).start()
