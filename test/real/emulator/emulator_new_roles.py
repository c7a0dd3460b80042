"""Roles that are new to EKS.

roles-late: for some seconds after EKS first hears of a role, it takes it for an invalid principal, or denies the call.
access-entries-late, too: under a policy that names one access entry, EKS may deny a call about an entry that it does not know yet.
"""

import itertools
import time

from ministack.services import eks

from emulator_aws_behaviour import is_on, wrap
from emulator_eks import is_late_entry

ROLE_DELAY = 5  # seconds

first_heard = {}
turns = itertools.count()
denied = (403, "AccessDeniedException", "User is not authorized to perform this action on this resource")
invalid = (400, "InvalidParameterException", "The specified principalArn is invalid: invalid principal.")


def create_entry(create, cluster, body):
    since = first_heard.setdefault((cluster, body["principalArn"]), time.time())
    if is_on("roles-late") and time.time() < since + ROLE_DELAY:
        return eks._error(*(denied, invalid)[next(turns) % 2])
    return create(cluster, body)


def deny_late_entry(act, cluster, principal, *rest):
    if is_late_entry(cluster, principal) and next(turns) % 2:
        return eks._error(*denied)
    return act(cluster, principal, *rest)


def begin():
    wrap(eks, "_create_access_entry", create_entry)
    for name in ("_update_access_entry", "_delete_access_entry", "_associate_access_policy", "_disassociate_access_policy"):
        wrap(eks, name, deny_late_entry)
