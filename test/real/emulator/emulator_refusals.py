"""What AWS refuses and MiniStack accepts, by a call or by a stack that creates or updates it.

A schedule's time zone must exist. With concurrency-low no function may reserve concurrency.
"""

import functools
import zoneinfo

from ministack.core.responses import error_response_json
from ministack.services import lambda_svc, scheduler
from ministack.services.cloudformation import provisioners

from emulator_aws_behaviour import is_on, wrap


def why_refused(properties):
    zone = properties.get("ScheduleExpressionTimezone", "UTC")
    if zone not in zoneinfo.available_timezones():
        return "ValidationException", f"Invalid Schedule Expression Timezone {zone}."
    if properties.get("ReservedConcurrentExecutions") and is_on("concurrency-low"):
        problem = "Specified ReservedConcurrentExecutions for function decreases account's UnreservedConcurrentExecution below its minimum value of [10]."
        return "InvalidParameterValueException", problem
    return None


def answer(act, name, body):
    refused = why_refused(body)
    return error_response_json(*refused) if refused else act(name, body)


def create(act, logical_id, properties, *rest):
    refuse(properties)
    return act(logical_id, properties, *rest)


def update(act, physical_id, before, properties, *rest):
    refuse(properties)
    return act(physical_id, before, properties, *rest)


def refuse(properties):
    refused = why_refused(properties)
    if refused:
        raise ValueError(refused[1])


def begin():
    wrap(scheduler, "_create_schedule", answer)
    wrap(scheduler, "_update_schedule", answer)
    wrap(lambda_svc, "_put_function_concurrency", answer)
    for type in ("AWS::Scheduler::Schedule", "AWS::Lambda::Function"):
        handler = provisioners._RESOURCE_HANDLERS[type]
        for name, check in {"create": create, "update": update}.items():
            handler[name] = functools.partial(check, handler[name])
