import type { Account } from "../../cli/doctor/aws/aws-account.ts";
import type { Part } from "../../infra/names.ts";
import { after, minutes } from "../../lambda/core/duration.ts";
import type { Settings } from "../../lambda/settings.ts";
import { version } from "../../lambda/version.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { someRules } from "../support/builders.ts";

/** What a function of such an account answers to `check`. */
export const aCheck = (
  about: Readonly<{
    record?: object;
    write?: object;
    launches?: object;
    cluster?: object;
    version?: string;
    rules?: Partial<Settings>;
  }> = {},
) => ({
  version: about.version ?? version,
  at: noon.toISOString(),
  rules: { ...someRules({ auto: true }), sweepEvery: minutes(5), nodeEvents: false, ...about.rules },
  write: { works: true, ...about.write },
  record: {
    works: true,
    holds: [],
    pauses: [],
    lastSweep: after(noon, -minutes(3)).toISOString(),
    ...about.record,
  },
  launches: { works: true, recent: 2, ...about.launches },
  cluster: {
    works: true,
    kubernetes: "v1.36.1",
    missingRights: [],
    needlessRights: [],
    foreignChange: "refused",
    ownChange: "admitted",
    nodes: 5,
    stuck: [],
    userHeld: [],
    ineffective: [],
    ...about.cluster,
  },
});

/** A probe that was answered after these hops. */
export const aTrip = () => ({
  id: "doctor-1",
  sentAt: noon.toISOString(),
  queuedAt: after(noon, 120).toISOString(),
  answeredAt: after(noon, 920).toISOString(),
  version,
});

/** Without what release, which asks EC2 nothing, does not look at. */
export function answerOf(part: Part, differing?: Parameters<typeof aCheck>[0]): object {
  const { launches, ...others } = aCheck(differing);
  return part === "release" ? others : { launches, ...others };
}

type FunctionsAnswer = Readonly<{
  checkOf?: (part: Part) => unknown;
  probe?: (id: unknown) => unknown;
  history?: readonly object[];
}>;

/** Functions that answer this, and do this if they are asked nothing. */
export const answering =
  (
    otherwise: Account["invoke"],
    { checkOf = answerOf, probe = () => aTrip(), history = [] }: FunctionsAnswer = {},
  ): Account["invoke"] =>
  async (part, payload) => {
    const { do: asked, id, limit = 20 } = Object(payload);
    if (asked === "check") return overTheWire(checkOf(part));
    if (part !== "control") return otherwise(part, payload);
    if (asked === "history") return overTheWire({ holds: history.slice(0, limit) });
    return asked === "probe" ? overTheWire({ probe: probe(id) }) : otherwise(part, payload);
  };

const overTheWire = (answer: unknown): unknown => JSON.parse(JSON.stringify(answer));
