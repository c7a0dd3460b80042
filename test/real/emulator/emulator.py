"""An AWS emulator whose EKS clusters are real control planes, and whose EC2 sends the state changes of instances to the event bus.

MiniStack runs k3s containers for EKS and sends no instance events. This file replaces those parts of it, which is why its
version is pinned. emulator.ts starts it and reads one line of JSON for each control plane from its stdout.
SIGUSR1 turns the enforcement of IAM on, SIGUSR2 turns it off.
"""

import base64
import contextvars
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import types

programs = pathlib.Path(os.environ["PROGRAMS"])
guarded = ["/bin/sh", "-c", 'exec 3<&0 </dev/null; . "$0"', os.environ["GUARD"], "process"]
os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"

from ministack import app  # noqa: E402  the path above must be set first
from ministack.core import iam_actions, lambda_runtime  # noqa: E402
from ministack.services import ec2, eks, eventbridge, scheduler  # noqa: E402

import emulator_alarms  # noqa: E402
import emulator_redrive  # noqa: E402
import emulator_aws_behaviour  # noqa: E402
import emulator_network  # noqa: E402
import emulator_new_roles  # noqa: E402
import emulator_schedules  # noqa: E402
import emulator_simulations  # noqa: E402
import emulator_stacks  # noqa: E402


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class ControlPlane:
    """Replaces MiniStack's container: it has an id, runs commands and stops."""

    def __init__(self, port, webhook):
        self.id = f"control-plane-{port}"
        self.processes = []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{self.id}-"))
        self.kubeconfig = self.folder / "kubeconfig"
        self.write_files(port, webhook)
        client, peer = free_ports(2)
        etcd = f"http://127.0.0.1:{client}"
        self.spawn(
            "etcd",
            f"--data-dir={self.folder}/etcd",
            "--unsafe-no-fsync",
            f"--listen-client-urls={etcd}",
            f"--advertise-client-urls={etcd}",
            f"--listen-peer-urls=http://127.0.0.1:{peer}",
        )
        self.spawn(
            "kube-apiserver",
            f"--etcd-servers={etcd}",
            f"--cert-dir={self.folder}/certs",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=RBAC",
            f"--token-auth-file={self.folder}/tokens.csv",
            "--service-account-issuer=https://127.0.0.1",
            f"--service-account-key-file={self.folder}/service-accounts.key",
            f"--service-account-signing-key-file={self.folder}/service-accounts.key",
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
            "--allow-privileged=true",
            f"--authentication-token-webhook-config-file={self.folder}/webhook.yaml",
            "--authentication-token-webhook-cache-ttl=0s",
        )
        self.wait_until_ready()

    def write_files(self, port, webhook):
        (self.folder / "webhook.yaml").write_bytes(webhook)
        (self.folder / "tokens.csv").write_text('admin,admin,1,"system:masters"\n')
        authority = str(self.folder / "certs/apiserver.crt")
        cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": authority}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "real", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": "admin"}}],
            "contexts": [{"name": "admin", "context": {"cluster": "real", "user": "admin"}}],
            "current-context": "admin",
        }
        self.kubeconfig.write_text(json.dumps(config))
        key = self.folder / "service-accounts.key"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)

    def spawn(self, name, *arguments):
        with open(self.folder / f"{name}.log", "wb") as log:
            # When this emulator ends, even by SIGKILL, the pipe to the guard closes and the program ends too.
            command = [*guarded, programs / name, *arguments]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT)
            self.processes.append(process)

    def wait_until_ready(self):
        while self.exec_run(["kubectl", "get", "--raw", "/readyz"])[0] != 0:
            if any(process.poll() is not None for process in self.processes):
                raise RuntimeError(f"the control plane did not start, see {self.folder}")
            time.sleep(0.25)

    def exec_run(self, command):
        environment = {**os.environ, "KUBECONFIG": str(self.kubeconfig)}
        done = subprocess.run(command, env=environment, capture_output=True, shell=isinstance(command, str))
        return done.returncode, done.stdout if done.returncode == 0 else done.stdout + done.stderr

    def stop(self, timeout=5):
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.communicate(b"ended\n")

    def remove(self, **_):
        """Does nothing: a stopped control plane leaves nothing to remove."""


planes = {}


def start_control_plane(_client, run_kwargs, _registries, webhook=None):
    plane = ControlPlane(run_kwargs["ports"]["6443/tcp"], webhook)
    planes[plane.id] = plane
    server = f"https://127.0.0.1:{run_kwargs['ports']['6443/tcp']}"
    report(server=server, kubeconfig=str(plane.kubeconfig))
    return plane


def report(**fact):
    print(json.dumps(fact), flush=True)


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
eks._extract_ca_cert = lambda plane: base64.b64encode((plane.folder / "certs/apiserver.crt").read_bytes()).decode()
eks._next_port = lambda: free_ports(1)[0]
name_schedules_by_group()
check_batches_as_single_actions()
name_sources_of_events()
mark_requests_as_encrypted()
app.__class__ = Gateway
always_strict(eks, "_authenticate_token_review")
always_strict(lambda_runtime, "execution_credentials")
scheduler._SCHEDULE_TICK_INTERVAL = 1  # seconds; MiniStack's 10 would make one-shots up to 10 s late
send_events("RunInstances", "pending", "running")
send_events("TerminateInstances", "shutting-down", "terminated")
emulator_alarms.begin()
emulator_redrive.begin()
emulator_aws_behaviour.begin()
emulator_network.begin()
emulator_new_roles.begin()
emulator_schedules.begin()
emulator_simulations.begin()
emulator_stacks.begin()
signal.signal(signal.SIGUSR1, enforce)
signal.signal(signal.SIGUSR2, relax)
app.main()
