"""EventBridge Scheduler invokes a function with the rights of the schedule's role, and by the very ARN that the schedule names.

MiniStack checks no role, and forgets the alias in the ARN.
"""

import json
import threading

from ministack.core import iam_evaluator
from ministack.core.responses import get_account_id, get_region
from ministack.services import eventbridge, lambda_svc

from emulator_aws_behaviour import wrap


def may_invoke(role, arn):
    context = iam_evaluator.EvalContext(
        principal_arn=role,
        principal_type="AssumedRole",
        principal_account=get_account_id(),
        action="lambda:InvokeFunction",
        resource_arn=arn,
        region=get_region(),
    )
    policies = iam_evaluator._gather_role_policies(role.split("/")[-1], get_account_id())
    return iam_evaluator.evaluate(context, policies).decision == "Allow"


def invoke(act, target, event, *rest):
    arn = target["Arn"]
    if event.get("Source") != "aws.scheduler" or ":lambda:" not in arn:
        return act(target, event, *rest)
    func, config, _name = lambda_svc._get_func_record_for_ref(arn)
    if func and may_invoke(target["RoleArn"], arn):
        record = lambda_svc._execution_record_for_config(func, {**config, "FunctionArn": arn})
        arguments = (record, json.loads(target["Input"]))
        threading.Thread(target=lambda_svc._execute_function_with_config_scope, args=arguments, daemon=True).start()
    return None


def begin():
    wrap(eventbridge, "_invoke_target", invoke)
