"""An AWS emulator whose EKS clusters are real control planes, and whose EC2 sends the state changes of instances to the event bus.

MiniStack runs k3s containers for EKS and sends no instance events. This file replaces those parts of it, which is why its
version is pinned. emulator.ts starts it, reads lines of JSON from its stdout, and starts the control planes that these ask for.
SIGUSR1 turns the enforcement of IAM on, SIGUSR2 turns it off.
"""

import base64
import contextvars
import json
import os
import re
import signal
import types

os.environ["PATH"] = f"{os.environ['PROGRAMS']}:{os.environ['PATH']}"

from ministack import app  # noqa: E402  the path above must be set first
from ministack.core import iam_actions, lambda_runtime  # noqa: E402
from ministack.services import ec2, eks, eventbridge, lambda_svc, scheduler, sts  # noqa: E402

import emulator_alarms  # noqa: E402
import emulator_redrive  # noqa: E402
import emulator_refusals  # noqa: E402
import emulator_aws_behaviour  # noqa: E402
import emulator_eks  # noqa: E402
import emulator_network  # noqa: E402
import emulator_schedules  # noqa: E402
import emulator_simulations  # noqa: E402
import emulator_stacks  # noqa: E402
from emulator_control_plane import ControlPlane, free_port, report  # noqa: E402


planes = {}


def start_control_plane(_client, run_kwargs, _registries, webhook=None):
    plane = ControlPlane(run_kwargs["ports"]["6443/tcp"], webhook)
    planes[plane.id] = plane
    return plane


def send_state(instances, state):
    for instance in instances:
        entry = {
            "Source": "aws.ec2",
            "DetailType": "EC2 Instance State-change Notification",
            "Detail": json.dumps({"instance-id": instance, "state": state}),
        }
        eventbridge._put_events({"Entries": [entry]}, allow_aws_source=True)


def send_events(action, *states):
    """Sends the events that AWS sends after this EC2 action."""
    run = ec2._ACTION_MAP[action]

    def run_and_send(parameters):
        answer = run(parameters)
        body = answer[2].decode() if isinstance(answer[2], bytes) else answer[2]
        instances = list(dict.fromkeys(re.findall(r"<instanceId>(i-[0-9a-f]+)", body)))
        send_state(instances, states[0])
        if action == "RunInstances":
            emulator_aws_behaviour.after_tags_appear(instances, lambda: send_state(instances, states[1]))
        else:
            send_state(instances, states[1])
        return answer

    ec2._ACTION_MAP[action] = run_and_send


strict = contextvars.ContextVar("enforce IAM for this call", default=False)


class Gateway(types.ModuleType):
    """Other services read AUTH as an attribute of this module; the module's own code reads its global."""

    @property
    def AUTH(self):
        return vars(self)["AUTH"] or strict.get()


def always_strict(module, name):
    """Keeps IAM enforced for one function: roles of functions and access entries of clusters always count."""
    inner = getattr(module, name)

    def run_strictly(*args, **kwargs):
        token = strict.set(True)
        try:
            return inner(*args, **kwargs)
        finally:
            strict.reset(token)

    setattr(module, name, run_strictly)


def name_schedules_by_group():
    """MiniStack names every schedule as one of the default group; policies for another group would never match."""
    name = iam_actions.extract_resource_arn

    def name_with_group(service, method, path, headers, body, query_params, *rest):
        arn = name(service, method, path, headers, body, query_params, *rest)
        if service != "scheduler" or ":schedule/default/" not in arn:
            return arn
        value = query_params.get("groupName") or json.loads(body or "{}").get("GroupName") or "default"
        group = value[0] if isinstance(value, list) else value
        return arn.replace(":schedule/default/", f":schedule/{group}/")

    iam_actions.extract_resource_arn = name_with_group


def check_batches_as_single_actions():
    """SQS has no separate permission for a batch: sqs:SendMessage also allows SendMessageBatch."""
    name = iam_actions.extract_iam_action

    def name_part(*args, **kwargs):
        action = name(*args, **kwargs)
        return action.removesuffix("Batch") if action and action.startswith("sqs:") else action

    iam_actions.extract_iam_action = name_part


def name_sources_of_events():
    """Policies may limit PutEvents to one source (events:source), which MiniStack does not evaluate."""
    tags = iam_actions.request_tag_context

    def with_sources(service, action, body, params):
        context = tags(service, action, body, params)
        if action != "events:PutEvents":
            return context
        sources = {str(entry.get("Source")) for entry in json.loads(body).get("Entries", [])}
        return {**context, "events:source": sources.pop() if len(sources) == 1 else sorted(sources)}

    iam_actions.request_tag_context = with_sources


def mark_requests_as_encrypted():
    """Clients reach this emulator over plain HTTP; policies that deny unencrypted requests would deny all of them."""
    pin = app.pin_request_origin
    app.pin_request_origin = lambda address, _secure: pin(address, True)


class Table(dict):
    """Loops over what it held when they began: MiniStack's threads, of functions that start at once, share some plain dictionaries."""

    def items(self):
        return list(super().items())

    def values(self):
        return list(super().values())


def loop_over_copies():
    sts._sessions = Table(sts._sessions)
    for part in (lambda_svc._functions, lambda_svc._layers):
        part._data = Table(part._data)


def enforce(*_):
    vars(app)["AUTH"] = True
    report(iam="enforced")


def relax(*_):
    vars(app)["AUTH"] = False
    report(iam="relaxed")


def keep_tls_to_clusters():
    """In functions, MiniStack turns TLS requests to loopback into plain HTTP; requests to a cluster must keep TLS."""
    own = 'if (host === "127.0.0.1" || host === "localhost"'
    kept = 'if (options.port && ![443, msPort].includes(Number(options.port))) return origHttpsReq.apply(https, original);'
    script = lambda_runtime._NODEJS_WORKER_SCRIPT
    if own not in script:
        raise RuntimeError("MiniStack's runtime for functions has changed: adapt keep_tls_to_clusters")
    lambda_runtime._NODEJS_WORKER_SCRIPT = script.replace(own, f"{kept}\n    {own}")


keep_tls_to_clusters()
containers = types.SimpleNamespace(get=planes.__getitem__, list=lambda **_: list(planes.values()))
eks._get_docker = lambda: types.SimpleNamespace(containers=containers)
eks._get_ministack_network = lambda _client: None
eks._k3s_gateway_host = lambda *_: "127.0.0.1"
eks._k3s_registries_yaml = lambda *_: None
eks._start_k3s_container = start_control_plane
eks._extract_ca_cert = lambda plane: base64.b64encode(plane.certificate()).decode()
eks._next_port = free_port
name_schedules_by_group()
check_batches_as_single_actions()
name_sources_of_events()
mark_requests_as_encrypted()
loop_over_copies()
app.__class__ = Gateway
always_strict(eks, "_authenticate_token_review")
always_strict(lambda_runtime, "execution_credentials")
scheduler._SCHEDULE_TICK_INTERVAL = 1  # seconds; MiniStack's 10 would make one-shots up to 10 s late
send_events("RunInstances", "pending", "running")
send_events("TerminateInstances", "shutting-down", "terminated")
for part in (
    emulator_alarms,
    emulator_redrive,
    emulator_refusals,
    emulator_aws_behaviour,
    emulator_eks,
    emulator_network,
    emulator_schedules,
    emulator_simulations,
    emulator_stacks,
):
    part.begin()
signal.signal(signal.SIGUSR1, enforce)
signal.signal(signal.SIGUSR2, relax)
app.main()
