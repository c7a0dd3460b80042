import { describe, expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import type { ClusterFindings, Inspection } from "../../lambda/core/operate/inspection.ts";
import { onOperatorAsked } from "../../lambda/handlers/control.ts";
import { version } from "../../lambda/version.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { World } from "../../simulator/world.ts";
import { until } from "../support/context.ts";

const findings: ClusterFindings = {
  kubernetes: "v1.36.1",
  missingRights: [],
  needlessRights: [],
  foreignChange: "refused",
  ownChange: "admitted",
  nodes: 3,
  stuck: [],
  userHeld: [],
};
const inspecting = (look: () => Promise<ClusterFindings> = async () => findings): Inspection => ({
  inspect: look,
});
const context = until(new Date(noon.getTime() + minutes(2)));
const check = (world: World, inspection?: Inspection) =>
  onOperatorAsked(world.ports, inspection && { inspection })({ do: "check" }, context);

describe("a check from inside", () => {
  it("reports the present holds, what the cluster showed and which code answers", async () => {
    const world = new World();
    await world.finish(await world.ask({ do: "hold", reason: "test" }));
    expect(await check(world, inspecting())).toMatchObject({
      version,
      at: noon,
      record: {
        works: true,
        holds: [
          {
            scope: "cluster",
            id: holdId(1),
            state: "held",
            armedFor: new Date(noon.getTime() + minutes(20)),
          },
        ],
      },
      launches: { works: true, recent: 0 },
      cluster: { works: true, ...findings },
    });
  });

  it("reports which link is broken and still tries the others", async () => {
    const refused = inspecting(() => Promise.reject(new Error("The cluster refused the login (401)")));
    expect(await check(new World(), refused)).toMatchObject({
      record: { works: true, holds: [] },
      launches: { works: true },
      cluster: { works: false, because: "The cluster refused the login (401)" },
    });
  });

  it("is refused by a holder without an inspection", async () => {
    await expect(check(new World())).rejects.toThrow("cannot be checked");
  });
});
