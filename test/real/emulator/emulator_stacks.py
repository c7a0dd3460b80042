"""Stacks as CloudFormation creates and deletes them.

stacks-unordered: MiniStack takes one resource after the other, in the order of their names where nothing depends on anything.
AWS works side by side, and a custom resource takes the longest: it is begun as soon as what it depends on is there, and when it
is deleted, everything on which nothing depends is gone already. The order of all others is random.

Always on: what a resource needs that could not be deleted is not deleted either. AWS leaves it without an event; here it fails.
A template's URL may have its bucket in the host's name, as AWS writes it; MiniStack looks for it in the path only.
"""

import random
import re

from ministack.services import cloudformation
from ministack.services.cloudformation import engine, helpers, stacks

from emulator_aws_behaviour import is_on, wrap


def order(sort, resources, conditions):
    names = sort(resources, conditions)
    if not is_on("stacks-unordered"):
        return names
    random.shuffle(names)
    # A stable sort: custom resources first, each after what it depends on.
    names.sort(key=lambda name: not resources[name].get("Type", "").startswith("Custom::"))
    found = {}

    def add(name):
        if name in found:
            return
        needed = engine._extract_deps(resources[name], set(names)) - {name}
        for each in random.sample(sorted(needed), len(needed)):
            add(each)
        found[name] = True

    for name in names:
        add(name)
    return list(found)


def delete_unless_needed(delete, type, physical_id, properties, stack_name=None, logical_id=None):
    stack = cloudformation._stacks.get(stack_name) or {}
    resources = stack.get("_resources", {})
    failed = {name for name, each in resources.items() if each.get("ResourceStatus") == "DELETE_FAILED"} - {logical_id}
    definitions = (stack.get("_template") or {}).get("Resources", {})
    if logical_id in stacks._with_dependencies(failed, definitions, set(resources)):
        raise RuntimeError("a resource that could not be deleted needs this one")
    delete(type, physical_id, properties, stack_name, logical_id)


in_host = re.compile(r"https://([a-z0-9.-]+)\.s3\.[a-z0-9-]+\.amazonaws\.com/")


def read_document(read, params, body_key, url_key, label):
    url = helpers._p(params, url_key)
    in_path = {url_key: [in_host.sub(r"https://s3.amazonaws.com/\1/", url)]} if url else {}
    return read({**params, **in_path}, body_key, url_key, label)


def begin():
    wrap(helpers, "_resolve_document", read_document)
    wrap(stacks, "_topological_sort", order)
    wrap(stacks, "_delete_resource", delete_unless_needed)
