import { changeRecord } from "./change-record.ts";
import { decideForce } from "./decide-release.ts";
import type { Hold, ScopeRecord } from "./hold.ts";
import type { Released, ReleasePorts } from "./ports.ts";
import { finishRelease, nothingReleased, type ReleaseAnswer, sum } from "./release-nodes.ts";
import { type Scope, wholeCluster } from "./scope.ts";
import { takeStock } from "./sweep-strays.ts";

/** How a hold is ended by hand: what to write for each record, and why. */
type Ending = (record: ScopeRecord) => Readonly<{ record: ScopeRecord; hold?: Hold; because: string }>;

/** Releases now, whatever the record says; launches up to now bring nothing back. */
export async function forceRelease(
  ports: ReleasePorts,
  wish: Readonly<{ reason: string; scope?: Scope | undefined }>,
  deadline: Date,
): Promise<ReleaseAnswer> {
  const because = `released by hand: ${wish.reason}`;
  return endHolds(
    ports,
    wish.scope,
    because,
    (record) => decideForce(record, because, ports.clock.now()),
    deadline,
  );
}

/** Ends the holds of one scope or of all, then takes off what marks nobody owns. */
export async function endHolds(
  ports: ReleasePorts,
  scope: Scope | undefined,
  because: string,
  ending: Ending,
  deadline: Date,
): Promise<ReleaseAnswer> {
  // The whole cluster's record first: its watermark keeps new holds away while the others are ended.
  const known = (await ports.holds.all()).map((record) => record.scope);
  const scopes = scope ? [scope] : [...new Set<Scope>([wholeCluster, ...known])];
  const answers: Released[] = [];
  let ended = 0;
  for (const each of scopes) {
    const decision = await changeRecord(ports, each, ending);
    ports.log.info("release decided", {
      scope: each,
      action: decision.hold ? "release" : "leave",
      because: decision.because,
    });
    if (!decision.hold) continue;
    ended += 1;
    answers.push(await finishRelease(ports, each, decision.hold, deadline));
  }
  if (!scope) answers.push((await takeStock(ports, deadline)).strays);
  const total = answers.reduce(sum, nothingReleased);
  const isNothing = ended === 0 && total.released + total.kept + total.failed === 0;
  return { ...total, because: isNothing ? "nothing is held" : because };
}
