import { describe, expect, it } from "vitest";
import { after, hours, minutes, seconds } from "../../../lambda/core/duration.ts";
import { resolveLaunches } from "../../../lambda/core/launches/handle-launches.ts";
import type { Instance, LaunchEvent } from "../../../lambda/core/ports.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const event = (instance: string, launchedAt = at(-1)): LaunchEvent => ({ instance, launchedAt });

type Facts = Readonly<{
  known?: readonly Partial<Instance>[];
  rules?: Partial<Rules>;
  attempt?: number;
  firstSeenAt?: Date;
  launchedAt?: Date;
}>;

/** Resolves one launch at noon, of which the cloud knows this. */
async function resolve({ known = [], attempt = 0, firstSeenAt = noon, launchedAt, ...facts }: Facts) {
  const { context, queued, metrics, record } = coreWorld({ rules: { replacements: "hold", ...facts.rules } });
  const asked: (readonly string[])[] = [];
  const find = async (ids: readonly string[]) => {
    asked.push(ids);
    return new Map(known.map((one) => ["i-1", { id: "i-1", launchedAt: noon, ...one }]));
  };
  const launches = [event("i-1", launchedAt)];
  await resolveLaunches(
    { ...context, launches: { ...context.launches, find } },
    { launches, firstSeenAt, attempt },
  );
  const counted = ["LaunchesSeen", "LaunchesIgnored", "HoldsStarted"] as const;
  return { queued, asked, counted: counted.map((name) => metrics.total(name)), hold: record()?.hold };
}
const retry = (attempt: number, delay: number) => [
  { followUp: { kind: "launches", launches: [event("i-1")], firstSeenAt: noon, attempt }, delay },
];

describe("a launch", () => {
  it("of this cluster's Karpenter starts a hold that counts from the time of its event", async () => {
    const { asked, counted, hold } = await resolve({ known: [{ nodePool: "default" }] });
    expect([asked, counted, hold?.causedAt]).toEqual([[["i-1"]], [1, 0, 1], at(-1)]);
  });

  it("is counted as seen once, however often it is tried", async () => {
    expect((await resolve({ known: [{ nodePool: "default" }], attempt: 1 })).counted).toEqual([0, 0, 1]);
  });

  it("waits until its initial delay is over, before any other call, and only once", async () => {
    const rules = { initialDelay: minutes(5) };
    const known = [{ nodePool: "default" }];
    const first = await resolve({ rules, known });
    expect([first.queued, first.asked]).toEqual([retry(1, minutes(4)), []]);
    expect((await resolve({ rules, known, launchedAt: at(1) })).queued).toHaveLength(1);
    expect((await resolve({ rules, known, launchedAt: at(-5) })).counted).toEqual([1, 0, 1]);
    expect((await resolve({ rules, known, attempt: 1 })).counted).toEqual([0, 0, 1]);
  });

  it("dated ahead of the clock counts as at most a minute ahead", async () => {
    const { hold } = await resolve({ known: [{ nodePool: "default" }], launchedAt: after(noon, hours(1)) });
    expect(hold?.causedAt).toEqual(at(1));
  });

  it.each<[string, Facts]>([
    ["an instance of others", { known: [{}] }],
    [
      "a NodePool that is left out",
      { known: [{ nodePool: "system" }], rules: { nodePools: { only: [], except: ["system"] } } },
    ],
  ])("of %s is ignored for good", async (_, facts) => {
    expect(await resolve(facts)).toMatchObject({ queued: [], counted: [1, 1, 0], hold: undefined });
  });
});

describe("a launch that the cloud does not know yet", () => {
  it.each([...[2, 5, 15, 15, 20, 30].map(seconds).entries()])(
    "is asked for again at attempt %i after %i ms",
    async (attempt, delay) => {
      expect((await resolve({ attempt })).queued).toEqual(retry(attempt + 1, delay));
    },
  );

  it("is given up ten minutes after the initial delay", async () => {
    const initialDelay = minutes(2);
    const seen = (minute: number) => ({ rules: { initialDelay }, attempt: 3, firstSeenAt: at(minute) });
    expect(await resolve(seen(-12))).toMatchObject({ queued: [], counted: [0, 1, 0] });
    expect((await resolve(seen(-11.9))).queued).toHaveLength(1);
  });
});
