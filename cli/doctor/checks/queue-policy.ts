/** Whether a queue's policy lets EventBridge send, from this rule at least. */
export function effectOnEvents(policy: unknown, ruleArn: string): "allows" | "denies" | "does not allow" {
  const statements = listOf(Object(policy).Statement).filter((one) => isAboutSending(one, ruleArn));
  const effects = statements.map((one) => Object(one).Effect);
  if (effects.includes("Deny")) return "denies";
  return effects.includes("Allow") ? "allows" : "does not allow";
}

/** Of conditions only those on the source count; one on TLS, which the bus always uses, says nothing about it. */
function isAboutSending(statement: unknown, ruleArn: string): boolean {
  const { Principal, Action, Condition } = Object(statement);
  const principals = [Principal, Object(Principal).AWS, Object(Principal).Service].flatMap(listOf);
  const actions = listOf(Action).map((action) => String(action).toLowerCase());
  return (
    (principals.includes("events.amazonaws.com") || principals.includes("*")) &&
    actions.some((action) => ["sqs:sendmessage", "sqs:send*", "sqs:*", "*"].includes(action)) &&
    fits(Condition, ruleArn)
  );
}

function fits(condition: unknown, ruleArn: string): boolean {
  const tests = Object.values(Object(condition)).map(Object);
  if (tests.some((test) => "aws:SecureTransport" in test)) return false;
  const sources = tests.flatMap((test) => listOf(test["aws:SourceArn"]));
  return sources.length === 0 || sources.includes(ruleArn);
}

const listOf = (value: unknown): readonly unknown[] => [value ?? []].flat();
