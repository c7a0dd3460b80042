"""EKS as AWS has it: access entries, new admins and endpoints that are not what they are at once. Each has a switch."""

import contextvars
import itertools
import json
import time

from ministack.services import eks

from emulator_aws_behaviour import closed_port, is_on, wrap

ENTRY_DELAY = 5  # seconds
ADMIN_DELAY = 8
ROLE_DELAY = 5


# access-entries-late: for some seconds after its creation, every call except CreateAccessEntry answers that the entry does not exist.
# Under a policy that names one access entry, EKS may also deny a call about an entry that it does not know yet.

entries_created = {}
turns = itertools.count()
entry_changes = ("_update_access_entry", "_delete_access_entry", "_associate_access_policy", "_disassociate_access_policy")
unknown_entry = ("ResourceNotFoundException", "The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'.")
denied_by_policy = (403, "AccessDeniedException", "User is not authorized to perform this action on this resource")


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


def deny_late_entry(act, cluster, principal, *rest):
    if is_late_entry(cluster, principal) and next(turns) % 2:
        return eks._error(*denied_by_policy)
    return act(cluster, principal, *rest)


def login_entry(find, cluster, *rest):
    entry = find(cluster, *rest)
    return None if entry and is_late_entry(cluster, entry["principalArn"]) else entry


# roles-late: for some seconds after EKS first hears of a role, it takes it for an invalid principal, or denies the call.

first_heard = {}
invalid_role = (400, "InvalidParameterException", "The specified principalArn is invalid: invalid principal.")


def create_entry_of_new_role(create, cluster, body):
    since = first_heard.setdefault((cluster, body["principalArn"]), time.time())
    if is_on("roles-late") and time.time() < since + ROLE_DELAY:
        return eks._error(*(denied_by_policy, invalid_role)[next(turns) % 2])
    return create(cluster, body)


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

calls_on_entry = (*entry_changes, "_describe_access_entry", "_list_associated_access_policies")
entry_calls = (*calls_on_entry, "_create_access_entry", "_list_access_entries")
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


def begin():
    wrap(eks, "_create_access_entry", create_entry)
    wrap(eks, "_associate_access_policy", associate)
    for name in calls_on_entry:
        wrap(eks, name, refuse_late_entry)
    wrap(eks, "_access_entry_for_principal", login_entry)
    wrap(eks, "_authenticate_token_review", review)
    wrap(eks, "_access_policy_associations", policies_known)
    for name in entry_calls:
        wrap(eks, name, refuse_entry_call)
    wrap(eks, "_describe_cluster", describe_cluster)
    wrap(eks, "_create_access_entry", create_entry_of_new_role)
    for name in entry_changes:
        wrap(eks, name, deny_late_entry)
