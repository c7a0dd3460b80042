import { DeleteRolePolicyCommand, PutRolePolicyCommand } from "@aws-sdk/client-iam";
import {
  CreateScheduleCommand,
  CreateScheduleGroupCommand,
  DeleteScheduleGroupCommand,
  SchedulerClient,
} from "@aws-sdk/client-scheduler";
import { DeleteMessageCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { createQueue, createRole, policyOf } from "./resources.ts";
import { type Check, inSeconds, judged, noted, poll, type Smoke, whileNamed } from "./smoke.ts";

type OneShot = Readonly<{ name: string; ahead: number }>;
type Fired = ReadonlyMap<string, Readonly<{ due: number; firedAt?: number; refused?: string }>>;

const aMinuteAhead: OneShot = { name: "minute", ahead: seconds(60) };
const secondsAhead: OneShot = { name: "seconds", ahead: seconds(5) };
const past: OneShot = { name: "past", ahead: -minutes(3) };

/** One-shots as the holder sets them, and nearer ones, which it never sets. */
export function oneShotChecks(smoke: Smoke): readonly Check[] {
  let fired: Promise<Fired> | undefined;
  const seenOf = async ({ name }: OneShot) => {
    fired ??= fireAll(smoke);
    const { due, firedAt, refused } = (await fired).get(name) ?? { due: 0 };
    if (refused) return { late: undefined, seen: `refused: ${refused}` };
    if (firedAt === undefined) return { late: undefined, seen: "accepted, and not fired within two minutes" };
    return { late: firedAt - due, seen: `fired ${inSeconds(firedAt - due)} after its time` };
  };
  const ignored = "anything: the holder sets none like it";
  return [
    {
      assumption: "a one-shot a minute ahead fires",
      expected: "within a minute after its time",
      look: async () => {
        const { late, seen } = await seenOf(aMinuteAhead);
        // Receiving takes a moment itself.
        return judged(late !== undefined && late >= -seconds(1) && late <= seconds(65), seen);
      },
    },
    {
      assumption: "a one-shot five seconds ahead",
      expected: ignored,
      look: async () => noted((await seenOf(secondsAhead)).seen),
    },
    {
      assumption: "a one-shot three minutes ago",
      expected: ignored,
      look: async () => noted((await seenOf(past)).seen),
    },
  ];
}

async function fireAll(smoke: Smoke): Promise<Fired> {
  const queue = await createQueue(smoke, "fired");
  const roleArn = await createSender(smoke, queue.arn);
  const scheduler = new SchedulerClient(smoke.aws);
  const group = smoke.prefix;
  smoke.cleanup.add(`schedule group ${group}`, () =>
    scheduler.send(new DeleteScheduleGroupCommand({ Name: group })),
  );
  await scheduler.send(new CreateScheduleGroupCommand({ Name: group }));

  const found = new Map<string, { due: number; firedAt?: number; refused?: string }>();
  const create = async ({ name, ahead }: OneShot) => {
    const due = Math.ceil((Date.now() + ahead) / 1000) * 1000;
    found.set(name, { due });
    await scheduler.send(
      new CreateScheduleCommand({
        GroupName: group,
        Name: name,
        ScheduleExpression: `at(${new Date(due).toISOString().slice(0, 19)})`,
        ScheduleExpressionTimezone: "UTC",
        FlexibleTimeWindow: { Mode: "OFF" },
        ActionAfterCompletion: "DELETE",
        Target: { Arn: queue.arn, RoleArn: roleArn, Input: JSON.stringify({ name }) },
      }),
    );
  };
  // Scheduler knows the new role only after some seconds; the others follow once it does.
  await whileNamed(smoke, "ValidationException", () => create(aMinuteAhead));
  for (const one of [secondsAhead, past]) {
    await create(one).catch((error: unknown) => {
      found.set(one.name, { due: 0, refused: error instanceof Error ? error.message : String(error) });
    });
  }
  const within = aMinuteAhead.ahead + seconds(66);
  await poll(smoke, { every: 200, within }, async () => {
    for (const name of await namesIn(queue)) {
      const one = found.get(name);
      if (one) found.set(name, { firedAt: Date.now(), ...one });
    }
    return found.get(aMinuteAhead.name)?.firedAt;
  });
  return found;
}

async function namesIn({ sqs, url: QueueUrl }: Awaited<ReturnType<typeof createQueue>>) {
  const command = new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1, MaxNumberOfMessages: 10 });
  const { Messages = [] } = await sqs.send(command);
  for (const { ReceiptHandle } of Messages)
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  return Messages.map(({ Body = "{}" }) => String(Object(JSON.parse(Body)).name));
}

/** The role with which Scheduler sends to this queue. */
async function createSender(smoke: Smoke, queueArn: string): Promise<string> {
  const { iam, name, arn } = await createRole(smoke, "scheduler", {
    Principal: { Service: "scheduler.amazonaws.com" },
    Condition: { StringEquals: { "aws:SourceAccount": smoke.account } },
  });
  const policy = { RoleName: name, PolicyName: "send" };
  smoke.cleanup.add(`policy of ${name}`, () => iam.send(new DeleteRolePolicyCommand(policy)));
  const PolicyDocument = policyOf({ Action: "sqs:SendMessage", Resource: queueArn });
  await iam.send(new PutRolePolicyCommand({ ...policy, PolicyDocument }));
  return arn;
}
