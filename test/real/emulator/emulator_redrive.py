"""StartMessageMoveTask of SQS, which MiniStack lacks: it moves messages of a dead-letter queue back to their source queue.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html
"""

import json
import uuid

from ministack.services import sqs


def start_message_move_task(data, _url):
    arn = data["SourceArn"]
    source = sqs._queue_by_arn(arn)
    if source is None:
        raise sqs._Err("ResourceNotFoundException", "The resource that you specified for the SourceArn parameter doesn't exist.", 404)
    sources = [queue for queue in sqs._queues.values() if dead_letters_of(queue) == arn]
    if not sources:
        raise sqs._Err("InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue.", 400)
    to = data.get("DestinationArn") or sources[0]["attributes"]["QueueArn"]
    for message in source["messages"]:
        # SQS gives a moved message a new id and a receive count of zero.
        sqs._act_send_message({"QueueUrl": sqs._queue_by_arn(to)["url"], "MessageBody": message["body"]}, "")
    source["messages"].clear()
    return {"TaskHandle": str(uuid.uuid4())}


def dead_letters_of(queue):
    return json.loads(queue["attributes"].get("RedrivePolicy") or "{}").get("deadLetterTargetArn")


def begin():
    sqs._HANDLERS["StartMessageMoveTask"] = start_message_move_task
