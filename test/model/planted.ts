/** A mistake in the core: in this file, this text instead of that. */
export type Mistake = Readonly<{ what: string; file: string; text: string; instead: string }>;

const mistake = (what: string, file: string, text: string, instead = ""): Mistake => ({
  ...{ what, text, instead },
  file: `lambda/core/${file}`,
});

/** The model check notices each of them: `npm run planted`. */
export const mistakes: readonly Mistake[] = [
  mistake("a hold has no cap", "launches.ts", "return { at: earlier(asked, cap),", "return { at: asked,"),
  mistake(
    "a later launch extends nothing",
    "launches.ts",
    "counting.reduce(later, went?.lastLaunchAt ?? first)",
    "(went?.lastLaunchAt ?? first)",
  ),
  mistake(
    "a launch holds without end",
    "launches.ts",
    "return { at: asked, isCapped: false };",
    "return { at: after(asked, asked.getTime()), isCapped: false };",
  ),
  mistake(
    "a pause silences no launch",
    "quiet.ts",
    "launchesCountFrom = quiets.map(({ until }) => until).reduce(later, releasedAt);",
    "launchesCountFrom = releasedAt;",
  ),
  mistake(
    "a pause ends a request",
    "quiet.ts",
    "  { releasedAt }: Silence,",
    "  { launchesCountFrom: releasedAt }: Silence,",
  ),
  mistake("a request holds in a pause", "demand.ts", "until: pausedUntil ? undefined : until,", "until,"),
  mistake("a release by hand ends no request", "quiet.ts", "{ releasedAt, ...one }", "one"),
  mistake(
    "drifted nodes are held",
    "plan-nodes.ts",
    "!drifted.has(node.name) && !isLetGo(node)",
    "!isLetGo(node)",
  ),
  mistake(
    "a request holds no drifted node",
    "plan-nodes.ts",
    "isRequested ? new Set() : driftedNodes(",
    "driftedNodes(",
  ),
  mistake("nodes that were let go are marked again at once", "plan-nodes.ts", "!isLetGo(node) &&"),
  mistake(
    "a user's annotation is taken for a mark",
    "marks/plan-marks.ts",
    "!(isOtherHolds && value === markValue)",
    "value !== markValue",
  ),
  mistake("an older one-shot is taken for the next", "looks.ts", " && oneShot <= at;", ";"),
  mistake(
    "an event makes a request shorter",
    "requests.ts",
    'asked.cause === "person" ? asked.until : later(before.until, asked.until)',
    "asked.until",
  ),
  mistake("a released request still holds", "requests.ts", "until > now && !releasedAt;", "until > now;"),
  mistake("a duplicate event counts twice", "figures.ts", " && seen[instance] === undefined,", ","),
  mistake(
    "history misses holds",
    "reconcile.ts",
    "  const past = pastOf({ ...record, hold }, now);\n  await journal.remember(past);",
    "  const past = pastOf({ ...record, hold }, now);",
  ),
  mistake(
    "orphaned marks stay",
    "sweep.ts",
    "return scope !== wholeCluster && scope !== poolScope(nodePool);",
    "return false;",
  ),
  mistake(
    "a node with work that must stay is let go",
    "pays.ts",
    "if (price.fixed) verdicts",
    "if (false) verdicts",
  ),
  mistake(
    "a node goes before that pays",
    "pays.ts",
    "else if (dueAt > now) verdicts",
    "else if (false) verdicts",
  ),
  mistake(
    "a hold ends beside running Jobs",
    "demand.ts",
    "untilJobsEnd(withLimit(launchHoldAfter(ofLaunches), facts), facts)",
    "withLimit(launchHoldAfter(ofLaunches), facts)",
  ),
  mistake("a hold is forgotten when it is closed", "record.ts", " ?? record.closedId"),
  mistake("a younger hold's mark is removed", "plan-nodes.ts", " || label > hold.id"),
  mistake(
    "a user's annotation goes with the mark",
    "marks/plan-marks.ts",
    'return managers.every((manager) => manager === holderName) ? "us" : "another manager";',
    'return "us";',
  ),
  mistake(
    "an annotation that a user applies, too, goes with the mark",
    "marks/plan-marks.ts",
    "managers.every(",
    "managers.some(",
  ),
  mistake(
    "no look comes for nodes that boot",
    "looks.ts",
    "= bootDelay(nodes?.awaitedSince, now);",
    "= undefined as Duration | undefined;",
  ),
  mistake(
    "a node that was let go is marked too late for a Job that comes to it",
    "looks.ts",
    "const takeDelay: Duration = seconds(20);",
    "const takeDelay: Duration = minutes(1);",
  ),
  mistake(
    "a duplicate event brings back a released request",
    "requests.ts",
    " || isAfter(asked.at, before, decidedAt);",
    " || true;",
  ),
  mistake(
    "a hold is closed while it may still be marked",
    "reconcile.ts",
    "isUnfinished || mayBeMarked(hold, record, now)",
    "isUnfinished",
  ),
  mistake(
    "a pause inside a breather does not end before the breather",
    "operate/release.ts",
    "until, because: reason };",
    'until: before?.kind === "breather" ? latest([until, before.until]) : until, because: reason };',
  ),
  mistake(
    "a node that nobody takes is never marked again",
    "pays.ts",
    "if (letGoAt && isNotTaken(letGoAt, consolidatable, now)) {",
    "if (letGoAt && !letGoAt) {",
  ),
  mistake(
    "a node that nobody takes is let go again at once",
    "pays.ts",
    "leftAlone[name] = after(now, aloneFor);",
    "leftAlone[name] = now;",
  ),
  mistake(
    "a pod that fits no other node is moved in thought",
    "../kubernetes/pod-needs.ts",
    "withLabels(nodeSelector);",
    "withLabels({});",
  ),
  mistake(
    "nodes of one size count as too large",
    "too-large.ts",
    "hasOneSize.get(poolOf(room)) ? 0 : shareWasted(",
    "shareWasted(",
  ),
];
