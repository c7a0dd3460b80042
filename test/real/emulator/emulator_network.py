"""The network of functions in a VPC, as far as a stack creates it.

MiniStack's functions reach everything; its CloudFormation forgets a function's VPC, and knows neither NAT gateways nor rules
of security groups as resources. Here a function in a VPC reaches
- AWS, as long as each of its subnets has a route to a NAT gateway whose own subnet has one to an attached internet gateway,
- a private endpoint, as long as a rule lets a security group of a function into one of the cluster's.
What is still simpler than AWS: a subnet that no stack created has a way out; there are no endpoints of a VPC, network ACLs and
outbound rules; a private endpoint answers everyone as soon as it answers one function.
"""

import json
import os
import socket
import threading
import uuid

from ministack.core import lambda_runtime
from ministack.services import eks
from ministack.services.cloudformation import provisioners

from emulator_aws_behaviour import is_on, wrap

FUNCTION = "AWS::Lambda::Function"
SUBNET = "AWS::EC2::Subnet"
ASSOCIATION = "AWS::EC2::SubnetRouteTableAssociation"
ROUTE = "AWS::EC2::Route"
NAT_GATEWAY = "AWS::EC2::NatGateway"
ATTACHMENT = "AWS::EC2::VPCGatewayAttachment"
RULE = "AWS::EC2::SecurityGroupIngress"

# The properties of every resource of these types that exists, by type and physical id.
existing = {}
gates = {}


def resources(type):
    return [properties for (each, _), properties in list(existing.items()) if each == type]


def remember(type):
    handler = provisioners._RESOURCE_HANDLERS[type]
    create, delete = handler["create"], handler["delete"]

    def create_and_remember(logical_id, properties, *rest):
        physical_id, attributes = create(logical_id, properties, *rest)
        existing[type, physical_id] = properties
        return physical_id, attributes

    def delete_and_forget(physical_id, properties, *rest):
        delete(physical_id, properties, *rest)
        existing.pop((type, physical_id), None)

    handler.update(create=create_and_remember, delete=delete_and_forget)


def add_type(type, prefix, *attributes):
    def create(_logical_id, _properties, _stack):
        id = f"{prefix}-{uuid.uuid4().hex[:17]}"
        return id, {name: id for name in attributes}

    provisioners._RESOURCE_HANDLERS[type] = {"create": create, "delete": lambda *_: None}


def has_way_out(subnet):
    if (SUBNET, subnet) not in existing:
        return True
    tables = [each["RouteTableId"] for each in resources(ASSOCIATION) if each["SubnetId"] == subnet]
    return any(leads_out(each) for each in resources(ROUTE) if each["RouteTableId"] in tables)


def leads_out(route):
    if route.get("DestinationCidrBlock") != "0.0.0.0/0":
        return False
    gateway = existing.get((NAT_GATEWAY, route.get("NatGatewayId")))
    if gateway:
        return has_way_out(gateway["SubnetId"])
    return any(each.get("InternetGatewayId") == route.get("GatewayId") for each in resources(ATTACHMENT))


def lets_in(cluster):
    network = cluster["resourcesVpcConfig"]
    groups = [network["clusterSecurityGroupId"], *network["securityGroupIds"]]
    ours = {group for each in resources(FUNCTION) for group in (each.get("VpcConfig") or {}).get("SecurityGroupIds", [])}
    return not is_on("private-endpoints-cut") and any(
        each["GroupId"] in groups
        and each.get("SourceSecurityGroupId") in ours
        and int(each["FromPort"]) <= 443 <= int(each["ToPort"])
        for each in resources(RULE)
    )


def gate(name, port, is_open):
    """A port that passes connections on while the way is open. Else it does not answer, and connections go silent."""
    if name not in gates:
        listener = socket.create_server(("127.0.0.1", 0))
        gates[name] = listener.getsockname()[1]
        in_background(accept, listener, port, is_open)
    return gates[name]


def in_background(work, *args):
    threading.Thread(target=work, args=args, daemon=True).start()


def accept(listener, port, is_open):
    while True:
        client, _ = listener.accept()
        in_background(connect, client, port, is_open)


def connect(client, port, is_open):
    if not is_open():
        return drop(client)
    server = socket.create_connection(("127.0.0.1", port))
    in_background(copy, client, server, is_open)
    copy(server, client, is_open)


def copy(source, target, is_open):
    try:
        while data := source.recv(65536):
            if not is_open():
                return drop(source)
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        # The other side has closed the connection.
        source.close()
        target.close()


def drop(connection):
    """Reads until the other side gives up."""
    try:
        while connection.recv(65536):
            pass
    except OSError:
        pass
    connection.close()


def spawn_environment(credentials, config):
    environment = credentials(config)
    name = config["FunctionName"]
    network = (existing.get((FUNCTION, name)) or {}).get("VpcConfig")
    if not network or "AWS_ENDPOINT_URL" in environment:
        return environment
    is_open = lambda: all(has_way_out(each) for each in network["SubnetIds"])  # noqa: E731
    port = gate(name, int(os.environ["GATEWAY_PORT"]), is_open)
    return {**environment, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}


def describe_cluster(describe, name):
    status, headers, body = describe(name)
    answer = json.loads(body)
    if status != 200 or answer["cluster"]["resourcesVpcConfig"]["endpointPublicAccess"] or not is_on("endpoints-closed"):
        return status, headers, body
    cluster = eks._clusters[name]
    port = gate(f"cluster {name}", cluster["_port"], lambda: lets_in(cluster))
    answer["cluster"]["endpoint"] = f"https://127.0.0.1:{port}"
    return status, headers, json.dumps(answer).encode()


def begin():
    add_type(RULE, "sgr", "Id")
    add_type(NAT_GATEWAY, "nat", "NatGatewayId")
    add_type("AWS::EC2::EIP", "eipalloc", "AllocationId", "PublicIp")
    for type in (FUNCTION, SUBNET, ASSOCIATION, ROUTE, NAT_GATEWAY, ATTACHMENT, RULE):
        remember(type)
    wrap(lambda_runtime, "execution_credentials", spawn_environment)
    wrap(eks, "_describe_cluster", describe_cluster)
