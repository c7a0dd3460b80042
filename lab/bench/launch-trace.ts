import type { CallTime } from "../../lambda/telemetry/call-times.ts";
import type { DeployedCluster } from "../../test/real/deployed/cluster.ts";
import { until } from "../../test/real/engines/processes.ts";

/** What one invocation of the hold function said of itself. */
export type Trace = Readonly<{
  queuedAt: Date;
  began: Date;
  /** The instances its batch decided about. */
  decided: readonly string[];
  calls: Readonly<Record<string, CallTime>>;
  /** Of the processor, without what starting the function took. */
  cpuMs: number;
}>;

type Line = Readonly<{
  message: string;
  requestId: string;
  queuedAt: string;
  began: string;
  instances?: readonly string[];
  calls: Trace["calls"];
  cpuMs: number;
}>;

/** The trace of the invocation that decided about this launch. */
export async function whenTraced(cluster: DeployedCluster, instance: string): Promise<Trace> {
  let found: Trace | undefined;
  await until(`the hold function to report ${instance}`, async () => {
    found = (await tracesOf(cluster)).find(({ decided }) => decided.includes(instance));
    return found !== undefined;
  });
  if (!found) throw new Error("it has just been found");
  return found;
}

/** Every invocation that has ended. */
export async function tracesOf(cluster: DeployedCluster): Promise<readonly Trace[]> {
  const lines = (await cluster.logs("hold")).flatMap(readLine);
  return [...Map.groupBy(lines, ({ requestId }) => requestId).values()].flatMap((ofOne) => {
    const said = (message: string) => ofOne.find((line) => line.message === message);
    const [batch, made] = [said("batch received"), said("calls made")];
    if (!batch || !made) return [];
    const decided = ofOne.flatMap(({ message, instances = [] }) =>
      message === "launch decided" ? instances : [],
    );
    return [
      {
        queuedAt: new Date(batch.queuedAt),
        began: new Date(made.began),
        decided,
        calls: made.calls,
        cpuMs: made.cpuMs,
      },
    ];
  });
}

function readLine(text: string): Line[] {
  const json = text.slice(text.indexOf("{"));
  try {
    return [JSON.parse(json) as Line];
  } catch {
    return []; // Lambda's own lines
  }
}
