"""A simulation of IAM counts what it is given about the request, as iam:PassedToService, which MiniStack leaves out."""

import contextvars
import itertools

from ministack.core import iam_evaluator
from ministack.services import iam

from emulator_aws_behaviour import wrap

given = contextvars.ContextVar("given", default={})


def read(act, params):
    entries = {}
    for i in itertools.count(1):
        entry = f"ContextEntries.member.{i}"
        name = iam._p(params, f"{entry}.ContextKeyName")
        if not name:
            break
        entries[name.lower()] = iam._p(params, f"{entry}.ContextKeyValues.member.1")
    given.set(entries)
    return act(params)


def simulate(act, *args):
    try:
        return act(*args)
    finally:
        given.set({})


def resolve(act, key, context):
    return given.get().get(key.lower()) or act(key, context)


def begin():
    wrap(iam, "_extract_simulate_params", read)
    wrap(iam, "_build_simulate_results_real", simulate)
    wrap(iam_evaluator, "_resolve_condition_key", resolve)
