"""An AWS emulator whose EKS clusters are real control planes, and whose EC2 tells the event bus what its instances do.

MiniStack runs k3s containers for EKS and sends no instance events; those parts of it are replaced here, which is why its
version is pinned. Started by emulator.ts, which it tells each control plane as a line of JSON.
SIGUSR1: from now on IAM is enforced; SIGUSR2: no longer.
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
import emulator_replay  # noqa: E402
import emulator_unkind  # noqa: E402


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class ControlPlane:
    """Stands where MiniStack expects a container: it has an id, runs commands and stops."""

    def __init__(self, port, webhook):
        self.id = f"control-plane-{port}"
        self.processes = []
        self.told = {}
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
            # However this emulator ends, the pipe to the guard breaks off, and the program ends too.
            command = [*guarded, programs / name, *arguments]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT)
            self.processes.append(process)
            self.told[name] = {"pid": process.pid, "command": [str(programs / name), *arguments]}

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
        """Nothing is left once it has stopped."""


planes = {}


def start_control_plane(_client, run_kwargs, _registries, webhook=None):
    plane = ControlPlane(run_kwargs["ports"]["6443/tcp"], webhook)
    planes[plane.id] = plane
    server = f"https://127.0.0.1:{run_kwargs['ports']['6443/tcp']}"
    tell(server=server, kubeconfig=str(plane.kubeconfig), apiServer=plane.told["kube-apiserver"])
    return plane


def tell(**fact):
    print(json.dumps(fact), flush=True)


def put_state(instances, state):
    for instance in instances:
        entry = {
            "Source": "aws.ec2",
            "DetailType": "EC2 Instance State-change Notification",
            "Detail": json.dumps({"instance-id": instance, "state": state}),
        }
        eventbridge._put_events({"Entries": [entry]}, allow_aws_source=True)


def announce(action, *states):
    """After this EC2 action the bus gets the events that AWS would send."""
    act = ec2._ACTION_MAP[action]

    def act_and_tell(parameters):
        answer = act(parameters)
        body = answer[2].decode() if isinstance(answer[2], bytes) else answer[2]
        instances = list(dict.fromkeys(re.findall(r"<instanceId>(i-[0-9a-f]+)", body)))
        put_state(instances, states[0])
        if action == "RunInstances":
            emulator_unkind.once_tags_are_known(instances, lambda: put_state(instances, states[1]))
        else:
            put_state(instances, states[1])
        return answer

    ec2._ACTION_MAP[action] = act_and_tell


strict = contextvars.ContextVar("as if IAM were enforced", default=False)


class Gateway(types.ModuleType):
    """The emulator's services read AUTH from its module, the module's own code from its globals."""

    @property
    def AUTH(self):
        return vars(self)["AUTH"] or strict.get()


def always_strict(module, name):
    """Without IAM everybody would be everything; functions have their role and clusters their entries at any time."""
    act = getattr(module, name)

    def act_strictly(*args, **kwargs):
        token = strict.set(True)
        try:
            return act(*args, **kwargs)
        finally:
            strict.reset(token)

    setattr(module, name, act_strictly)


def name_schedules_by_group():
    """MiniStack takes every schedule for one of the default group, which no policy of another group allows."""
    name = iam_actions.extract_resource_arn

    def name_with_group(service, method, path, headers, body, query_params, *rest):
        arn = name(service, method, path, headers, body, query_params, *rest)
        if service != "scheduler" or ":schedule/default/" not in arn:
            return arn
        asked = query_params.get("groupName") or json.loads(body or "{}").get("GroupName") or "default"
        group = asked[0] if isinstance(asked, list) else asked
        return arn.replace(":schedule/default/", f":schedule/{group}/")

    iam_actions.extract_resource_arn = name_with_group


def allow_batches_by_their_parts():
    """SQS knows no permission of its own for a batch: who may send a message may send several."""
    name = iam_actions.extract_iam_action

    def name_part(*args, **kwargs):
        action = name(*args, **kwargs)
        return action.removesuffix("Batch") if action and action.startswith("sqs:") else action

    iam_actions.extract_iam_action = name_part


def take_every_request_for_encrypted():
    """All of AWS is reached by TLS and all of this without: policies that deny plain requests would deny everything."""
    pin = app.pin_request_origin
    app.pin_request_origin = lambda address, _secure: pin(address, True)


def enforce(*_):
    vars(app)["AUTH"] = True
    tell(iam="enforced")


def relax(*_):
    vars(app)["AUTH"] = False
    tell(iam="relaxed")


def keep_tls_to_clusters():
    """In the functions MiniStack turns every TLS request to loopback into a plain one; those to a cluster must stay."""
    own = 'if (host === "127.0.0.1" || host === "localhost"'
    kept = 'if (options.port && ![443, msPort].includes(Number(options.port))) return origHttpsReq.apply(https, original);'
    script = lambda_runtime._NODEJS_WORKER_SCRIPT
    if own not in script:
        raise RuntimeError("MiniStack's runtime for functions has changed: look at it anew")
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
allow_batches_by_their_parts()
take_every_request_for_encrypted()
app.__class__ = Gateway
always_strict(eks, "_authenticate_token_review")
always_strict(lambda_runtime, "execution_credentials")
scheduler._SCHEDULE_TICK_INTERVAL = 1  # seconds; with its ten a one-shot would be late by that much
announce("RunInstances", "pending", "running")
announce("TerminateInstances", "shutting-down", "terminated")
emulator_alarms.begin()
emulator_replay.begin()
emulator_unkind.begin()
signal.signal(signal.SIGUSR1, enforce)
signal.signal(signal.SIGUSR2, relax)
app.main()
