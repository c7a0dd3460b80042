"""Delays and limits of AWS that a plain emulator does not have, each with a switch.

The file BEHAVIOUR_FILE lists the switches that are on, one per line. It is read at every use, so a test may change it.
"""

import contextvars
import json
import os
import pathlib
import random
import socket
import threading
import time
import zlib

from ministack.core import lambda_runtime
from ministack.core.concurrency import spawn_background
from ministack.services import cloudwatch_logs, ec2, eks, eventbridge, iam, lambda_svc, scheduler, sqs

switches = pathlib.Path(os.environ["BEHAVIOUR_FILE"])

ENTRY_DELAY = 5  # seconds
ADMIN_DELAY = 8
TAGS_DELAY = 3
EVENT_DELAY = 3
QUIET_QUEUE_WAIT = 20
ONE_SHOT_DELAY = 15
LOGS_DELAY = 5


def is_on(name):
    return name in switches.read_text().split()


def wrap(module, name, wrapper):
    inner = getattr(module, name)
    setattr(module, name, lambda *args, **kwargs: wrapper(inner, *args, **kwargs))


# access-entries-late: for some seconds after its creation, every call except CreateAccessEntry answers that the entry does not exist.

entries_created = {}
unknown_entry = ("ResourceNotFoundException", "The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'.")


def is_late_entry(cluster, principal):
    created = entries_created.get((cluster, principal), 0)
    return is_on("access-entries-late") and time.time() < created + ENTRY_DELAY


def create_entry(create, cluster, body):
    answer = create(cluster, body)
    if answer[0] == 200:
        entries_created[cluster, body["principalArn"]] = time.time()
    return answer


def refuse_late_entry(act, cluster, principal, *rest):
    if is_late_entry(cluster, principal):
        return eks._error(404, *unknown_entry)
    return act(cluster, principal, *rest)


def login_entry(find, cluster, *rest):
    entry = find(cluster, *rest)
    return None if entry and is_late_entry(cluster, entry["principalArn"]) else entry


# admins-late: a new admin reaches the API servers of a cluster one after the other, so for some seconds every second request is
# answered by an API server that does not know the admin yet.

associated = {}
is_login = contextvars.ContextVar("the call is a token review of an API server", default=False)
logins = {}


def associate(act, cluster, principal, body):
    answer = act(cluster, principal, body)
    if answer[0] == 200:
        associated[cluster, principal] = time.time()
    return answer


def review(act, *args, **kwargs):
    token = is_login.set(True)
    try:
        return act(*args, **kwargs)
    finally:
        is_login.reset(token)


def policies_known(find, cluster, *rest):
    for principal, policy, association in find(cluster, *rest):
        since = associated.get((cluster, principal), 0)
        if is_on("admins-late") and is_login.get() and time.time() < since + ADMIN_DELAY:
            logins[cluster, principal] = logins.get((cluster, principal), 0) + 1
            if logins[cluster, principal] % 2:
                continue
        yield principal, policy, association


# endpoints-closed: an endpoint that is public only for some addresses does not answer a function, which has none of these addresses.


def closed_port():
    """Opens a port whose connections are accepted by the system and never answered."""
    listener = socket.create_server(("127.0.0.1", 0))
    open_listeners.append(listener)
    return listener.getsockname()[1]


open_listeners = []


def describe_cluster(describe, name):
    status, headers, body = describe(name)
    if status != 200:
        return status, headers, body
    if is_on("calls-denied"):
        return eks._error(403, *denied)
    answer = json.loads(body)
    if is_on("config-map-only"):
        answer["cluster"]["accessConfig"]["authenticationMode"] = "CONFIG_MAP"
    cidrs = answer["cluster"]["resourcesVpcConfig"]["publicAccessCidrs"]
    if is_on("endpoints-closed") and "0.0.0.0/0" not in cidrs:
        answer["cluster"]["endpoint"] = f"https://127.0.0.1:{closed_port()}"
    return status, headers, json.dumps(answer).encode()


# A cluster without access entries refuses every call about them. config-map-only: no cluster has any.
# calls-denied: a service control policy denies every call. calls-throttled: EKS has no time for calls about access entries.

entry_calls = ("_create_access_entry", "_describe_access_entry", "_update_access_entry", "_delete_access_entry", "_list_access_entries", "_associate_access_policy", "_disassociate_access_policy", "_list_associated_access_policies")
no_entries = ("InvalidRequestException", "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation.")
denied = ("AccessDeniedException", "User is not authorized to perform this action with an explicit deny in a service control policy")
throttled = ("ThrottlingException", "Rate exceeded")


def refuse_entry_call(act, cluster, *rest):
    found = eks._clusters.get(cluster) or {}
    if found and (is_on("config-map-only") or found["accessConfig"]["authenticationMode"] == "CONFIG_MAP"):
        return eks._error(400, *no_entries)
    if is_on("calls-denied"):
        return eks._error(403, *denied)
    if is_on("calls-throttled"):
        return eks._error(429, *throttled)
    return act(cluster, *rest)


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
    wrap(eks, "_create_access_entry", create_entry)
    wrap(eks, "_associate_access_policy", associate)
    for name in ("_describe_access_entry", "_update_access_entry", "_delete_access_entry", "_associate_access_policy", "_disassociate_access_policy", "_list_associated_access_policies"):
        wrap(eks, name, refuse_late_entry)
    wrap(eks, "_access_entry_for_principal", login_entry)
    wrap(eks, "_authenticate_token_review", review)
    wrap(eks, "_access_policy_associations", policies_known)
    for name in entry_calls:
        wrap(eks, name, refuse_entry_call)
    wrap(eks, "_describe_cluster", describe_cluster)
    wrap(lambda_runtime, "execution_credentials", spawn_environment)
    wrap(sqs, "_receive_messages_for_esm", fetch)
    wrap(lambda_svc, "_get_account_settings", account_settings)
    wrap(scheduler, "_at_time_epoch", one_shot_time)
    wrap(scheduler, "_create_schedule", create_schedule)
    wrap(eventbridge, "_dispatch_event", dispatch)
