"""Delays and limits of AWS that a plain emulator does not have, each with a switch.

The file BEHAVIOUR_FILE lists the switches that are on, one per line. It is read at every use, so a test may change it.
"""

import json
import os
import pathlib
import random
import socket
import time
import zlib

from ministack.core import lambda_runtime
from ministack.core.concurrency import spawn_background
from ministack.services import cloudwatch_logs, ec2, eventbridge, iam, lambda_svc, scheduler, sqs

switches = pathlib.Path(os.environ["BEHAVIOUR_FILE"])

TAGS_DELAY = 3  # seconds
EVENT_DELAY = 3
QUIET_QUEUE_WAIT = 20
ONE_SHOT_DELAY = 15
LOGS_DELAY = 5


def is_on(name):
    return name in switches.read_text().split()


def wrap(module, name, wrapper):
    inner = getattr(module, name)
    setattr(module, name, lambda *args, **kwargs: wrapper(inner, *args, **kwargs))


def closed_port():
    """Opens a port whose connections are accepted by the system and never answered."""
    listener = socket.create_server(("127.0.0.1", 0))
    open_listeners.append(listener)
    return listener.getsockname()[1]


open_listeners = []


# subnets-closed: from the subnets of a function in a VPC no call leaves. MiniStack's CloudFormation forgets the VPC of a function; its
# environment names it.


def spawn_environment(credentials, config):
    is_closed = is_on("subnets-closed") and "IN_VPC" in (config.get("Environment") or {}).get("Variables", {})
    closed = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{closed_port()}"} if is_closed else {}
    return {**credentials(config), **closed}


# quiet-queues-wait: with a batching window, Lambda may wait 20 seconds before it polls a queue that was empty.

last_fetched = {}


def fetch(receive, queue_url, size):
    windows = [
        each.get("MaximumBatchingWindowInSeconds") or 0
        for _, _, each in lambda_svc._iter_all_esms()
        if each.get("EventSourceArn") == sqs._queues[queue_url]["attributes"]["QueueArn"]
    ]
    waiting = [each["sent_at"] for each in sqs._queues[queue_url]["messages"]]
    if is_on("quiet-queues-wait") and any(windows) and waiting:
        was_quiet = min(waiting) > last_fetched.get(queue_url, 0) + QUIET_QUEUE_WAIT
        if was_quiet and time.time() < min(waiting) + QUIET_QUEUE_WAIT:
            return []
    batch = receive(queue_url, size)
    if batch:
        last_fetched[queue_url] = time.time()
    return batch


# concurrency-low: the account's concurrency quota is so low that nothing can be reserved from it.


def account_settings(get):
    status, headers, body = get()
    if not is_on("concurrency-low"):
        return status, headers, body
    answer = json.loads(body)
    answer["AccountLimit"].update(ConcurrentExecutions=10, UnreservedConcurrentExecutions=10)
    return status, headers, json.dumps(answer).encode()


# one-shots-late: a one-shot fires late, by up to a quarter of the minute that AWS takes.


def one_shot_time(read, expression):
    moment = read(expression)
    if moment is None or not is_on("one-shots-late"):
        return moment
    return moment + zlib.crc32(expression.encode()) % ONE_SHOT_DELAY


# past-one-shots-lost: a one-shot in the past is accepted and never fires.


def create_schedule(create, name, body):
    answer = create(name, body)
    moment = scheduler._at_time_epoch(body.get("ScheduleExpression") or "")
    is_lost = is_on("past-one-shots-lost") and moment is not None and moment < time.time()
    if answer[0] == 200 and is_lost:
        key = f"{body.get('GroupName', 'default')}/{name}"
        scheduler._schedule_last_fired[scheduler._schedules._scoped(key)] = time.time()
    return answer


# tags-late: an instance stays pending for some seconds, and EC2 returns its tags only after that.


def hide_tags(instances):
    """Hides the tags of these instances; returns a function that shows them again."""
    found = {id: ec2._instances[id] for id in instances if id in ec2._instances}
    hidden = {id: ec2._tags._data.pop(ec2._tags._scoped(id), None) for id in found}
    for instance in found.values():
        instance["State"] = {"Code": 0, "Name": "pending"}

    def show():
        for id, instance in found.items():
            if hidden[id] is not None:
                ec2._tags[id] = hidden[id]
            if instance["State"]["Name"] == "pending":
                instance["State"] = {"Code": 16, "Name": "running"}

    return show


def after_tags_appear(instances, send):
    if not is_on("tags-late"):
        return send()
    show = hide_tags(instances)

    def later():
        time.sleep(TAGS_DELAY)
        show()
        send()

    return spawn_background(later, thread_name="tags-late")


# events-unordered: the bus delivers each event twice, late, and in any order.


def dispatch(deliver, *args):
    if not is_on("events-unordered"):
        return deliver(*args)

    def late():
        time.sleep(random.uniform(0, EVENT_DELAY))
        deliver(*args)

    for _ in range(2):
        spawn_background(late, thread_name="events-unordered")
    return None


# logs-late: the lines of a function whose role may create log groups arrive late, and bring back a group that was deleted meanwhile.
# Always on: a function without this right brings none back.


def may_create_groups(config):
    role = iam._roles.get(config.get("Role", "").split("/")[-1]) or {}
    rights = f"{role.get('AttachedPolicies')} {role.get('InlinePolicies')}"
    return "AWSLambdaBasicExecutionRole" in rights or "logs:CreateLogGroup" in rights


def emit_logs(emit, func, *args, **kwargs):
    config = func.get("config") or func
    group = (config.get("LoggingConfig") or {}).get("LogGroup")
    if group is None or not may_create_groups(config):
        if group is None or group in cloudwatch_logs._log_groups:
            emit(func, *args, **kwargs)
        return

    def later():
        time.sleep(LOGS_DELAY if is_on("logs-late") else 0)
        emit(func, *args, **kwargs)

    spawn_background(later, thread_name="logs-late")


def begin():
    wrap(lambda_svc, "_emit_lambda_logs", emit_logs)
    wrap(lambda_runtime, "execution_credentials", spawn_environment)
    wrap(sqs, "_receive_messages_for_esm", fetch)
    wrap(lambda_svc, "_get_account_settings", account_settings)
    wrap(scheduler, "_at_time_epoch", one_shot_time)
    wrap(scheduler, "_create_schedule", create_schedule)
    wrap(eventbridge, "_dispatch_event", dispatch)
