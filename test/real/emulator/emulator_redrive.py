"""StartMessageMoveTask of SQS, which MiniStack lacks: it moves messages of a dead-letter queue back to their source queue."""

import json
import uuid

from ministack.services import sqs


def start_message_move_task(data, _url):
    dead_letters = sqs._queue_by_arn(data["SourceArn"])
    sources = [queue for queue in sqs._queues.values() if dead_letters_of(queue) == data["SourceArn"]]
    if not sources:
        raise sqs._Err("InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue.", 400)
    for message in dead_letters["messages"]:
        # SQS gives a moved message a new id and a receive count of zero.
        sqs._act_send_message({"QueueUrl": sources[0]["url"], "MessageBody": message["body"]}, "")
    dead_letters["messages"].clear()
    return {"TaskHandle": str(uuid.uuid4())}


def dead_letters_of(queue):
    return json.loads(queue["attributes"].get("RedrivePolicy") or "{}").get("deadLetterTargetArn")


def begin():
    sqs._HANDLERS["StartMessageMoveTask"] = start_message_move_task
