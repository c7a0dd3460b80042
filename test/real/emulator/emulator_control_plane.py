"""A control plane of Kubernetes: etcd and an API server on loopback, which end with this program."""

import json
import os
import pathlib
import socket
import subprocess
import tempfile
import time

programs = pathlib.Path(os.environ["PROGRAMS"])
guarded = ["/bin/sh", "-c", 'exec 3<&0 </dev/null; . "$0"', os.environ["GUARD"], "process"]


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
