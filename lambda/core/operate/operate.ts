import { after, type Duration } from "../duration.ts";
import { BadInputError } from "../errors.ts";
import { changeRecord, wholeClusterRecord } from "../holds/change-record.ts";
import { dueAt, isPaused, untilResumed, watermarkOf } from "../holds/hold.ts";
import { awaitPendingNodes } from "../launches/pending-nodes.ts";
import { markNodes } from "../marks/mark-nodes.ts";
import type { Ports } from "../ports.ts";
import { armRelease } from "../releases/arm-release.ts";
import { endHolds, isEverything, otherScopes } from "../releases/force-release.ts";
import type { ReleaseAnswer } from "../releases/release-nodes.ts";
import { isKept } from "../rules.ts";
import { type Scope, wholeCluster } from "../scope.ts";
import { decideHold, decidePause, decideResume, type HoldRequest } from "./decide-by-hand.ts";

export type HoldAnswer = Readonly<{
  holdId: string;
  until: Date;
  marked: number;
  userHeld: number;
  because: string;
}>;

/** Starts or extends a hold by hand. */
export async function holdByHand(
  ports: Ports,
  scope: Scope,
  wish: HoldRequest,
  deadline: Date,
): Promise<HoldAnswer> {
  const { rules, clock, ids } = ports;
  if (!isKept(rules, scope)) {
    const expected = rules.scope === "cluster" ? '"cluster"' : '"nodepool/NAME"';
    throw new BadInputError("Cannot hold", [
      `scope must be ${expected} with this deployment's settings, not "${scope}"`,
    ]);
  }
  const whole = await wholeClusterRecord(ports, scope);
  const decision = await changeRecord(ports, scope, (record) => {
    const now = clock.now();
    return decideHold(record, watermarkOf(record, whole), wish, rules, now, ids.newHoldId(now));
  });
  ports.log.info("hold by hand decided", { scope, action: decision.action, because: decision.because });
  if (decision.action === "refuse") throw new BadInputError("Cannot hold", [decision.because]);

  const { hold } = decision;
  if (decision.action === "start") ports.metrics.add("HoldsStarted", 1);
  if (!hold.armedFor) await armRelease(ports, scope, hold, dueAt(hold, rules));
  const marking = await markNodes(ports, scope, hold, deadline);
  await awaitPendingNodes(ports, { scope, awaited: [], attempt: 0 }, marking);
  return {
    holdId: hold.id,
    until: dueAt(hold, rules),
    marked: marking.marked + marking.adopted,
    userHeld: marking.userHeld,
    because: decision.because,
  };
}

/** Releases and holds nothing until then, or until resumed. */
export async function pause(
  ports: Ports,
  wish: Readonly<{ for?: Duration | undefined; reason: string; scope?: Scope | undefined }>,
  deadline: Date,
): Promise<ReleaseAnswer & Readonly<{ until: Date | undefined }>> {
  const until = wish.for === undefined ? untilResumed : after(ports.clock.now(), wish.for);
  const because = `paused by hand: ${wish.reason}`;
  // A pause of everything is kept in the whole cluster's record, where it counts for scopes yet unknown.
  const ending = (record: Parameters<typeof decidePause>[0]) =>
    decidePause(record, until, wish.reason, ports.clock.now());
  const answer = await endHolds(ports, wish.scope, because, ending, deadline);
  return { ...answer, because, until: wish.for === undefined ? undefined : until };
}

/** Lets launches count again from now on. */
export async function resume(
  ports: Ports,
  scope: Scope | undefined,
): Promise<Readonly<{ resumed: Scope[]; because: string }>> {
  const others = isEverything(scope) ? await otherScopes(ports) : [];
  const resumed: Scope[] = [];
  let because = "nothing was paused";
  for (const each of [scope ?? wholeCluster, ...others]) {
    const decision = await changeRecord(ports, each, (record) => decideResume(record, ports.clock.now()));
    ports.log.info("resume decided", { scope: each, action: decision.action, because: decision.because });
    if (decision.action === "leave") continue;
    resumed.push(each);
    because = decision.because;
  }
  const whole = scope && (await wholeClusterRecord(ports, scope));
  if (whole && isPaused(watermarkOf(whole), ports.clock.now()))
    because = "the whole cluster is still paused: resume it";
  return { resumed, because };
}
