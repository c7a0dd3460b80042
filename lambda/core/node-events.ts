import type { Plan } from "./plan.ts";
import type { NodeChange, NodeEvent } from "./ports.ts";
import type { Rules } from "./rules.ts";

type Facts = Readonly<{ plan: Plan; rules: Pick<Rules, "auto">; now: Date }>;

/** What a mark that was set or removed means for its node, in words for people who do not know the holder. */
export function nodeEventOf({ do: what, node }: NodeChange, { plan, rules, now }: Facts): NodeEvent {
  const { until, because } = plan;
  const event = (reason: NodeEvent["reason"], message: string) => ({ node, reason, message, at: now });
  const { launchHold } = plan.isRequested ? {} : plan.record;
  if (!until) return event("Released", `Released: ${because}`);
  if (what === "release" && launchHold?.isEnding)
    return event("Released", "Released: the hold ends, and no Job runs on the node");
  if (what === "release") return event("LetGo", `Let go: ${whyLetGo(node.name, plan)}`);
  const goesEarlier = rules.auto && launchHold && !launchHold.isConstant;
  const end = `${timeOf(until, now)}${goesEarlier ? ", or until it no longer pays" : ""}`;
  const isLeftAlone = launchHold && plan.record.account?.leftAlone[node.name];
  return event(
    "Held",
    `Held until ${end}: ${isLeftAlone ? "it was let go, and Karpenter did not take it" : because}`,
  );
}

/** Only the nodes that go next have a verdict, and only where this pass has read the pods. */
function whyLetGo(name: string, { verdicts = [], record }: Plan): string {
  const verdict = verdicts.find((one) => one.name === name && one.isLetGo);
  if (verdict) return verdict.because;
  return record.account?.letGo[name] ? "it no longer pays" : "it has drifted";
}

/** The day is named where it is not today. */
function timeOf(moment: Date, now: Date): string {
  const [day = "", time = ""] = moment.toISOString().split("T");
  return `${now.toISOString().startsWith(day) ? "" : `${day} `}${time.slice(0, 5)}Z`;
}
