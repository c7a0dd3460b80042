import { type Doctor, redeploy } from "../doctor.ts";
import { type Finding, fail, ok, warn } from "../finding.ts";

/** The dead-letter queue of each kind; undefined where there is none, missing where unknown. */
export type DeadLetterQueues = Readonly<
  Partial<Record<"launches" | "events" | "invocations", string | undefined>>
>;

/** The dead-letter queues are empty. */
export async function checkDeadLetters(doctor: Doctor, arns: DeadLetterQueues): Promise<Finding[]> {
  const kinds = Object.entries(arns);
  const found = await Promise.all(
    kinds.map(async ([kind, arn]) => ({
      kind,
      arn,
      queue: arn ? await doctor.account.queue(arn) : undefined,
    })),
  );
  const gone = found.filter(({ queue }) => !queue);
  if (gone.length > 0) {
    const what = `there is no dead-letter queue for ${gone.map(({ kind }) => kind).join(" and ")}`;
    return [fail("dead letters", what, redeploy(doctor))];
  }
  const full = found.filter(({ queue }) => queue && queue.waiting > 0);
  if (full.length === 0) return [ok("dead letters", "none")];
  return full.map(({ kind, queue }) => {
    const what = `${queue?.waiting} ${kind} failed after all retries, in ${queue?.url}`;
    return warn(
      "dead letters",
      what,
      "See docs/operating.md#dead-letters; empty the queue once you know why.",
    );
  });
}
