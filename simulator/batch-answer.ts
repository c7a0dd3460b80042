/** The messages that the hold function reports as failed; everything else must have been handled. */
export function failuresIn(answer: unknown): string[] {
  const failures: unknown = typeof answer === "object" && answer && Reflect.get(answer, "batchItemFailures");
  if (!Array.isArray(failures)) throw new Error("the hold function did not report which messages failed");
  return failures.map((one: { itemIdentifier: string }) => one.itemIdentifier);
}
