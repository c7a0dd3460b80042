import { expect, it } from "vitest";
import type { DeployedCluster } from "./cluster.ts";

/** A hold from launch to release by hand. */
export function holdCases(open: () => DeployedCluster): void {
  it("a launch starts a hold: existing nodes are marked, and a new node once it joins; a release by hand counts them", async () => {
    const prod = open();
    const present = await prod.join("i-0123456789abcdef0");

    const instance = await prod.launch();
    const hold = await prod.untilMarked([present]);
    const joined = await prod.join(instance);

    expect(await prod.untilMarked([joined])).toBe(hold);
    // Launches of the account's other cluster do not count.
    expect((await prod.control({ do: "status" })).scopes).toMatchObject([{ state: "held", launches: 1 }]);
    expect((await prod.releaseAll()).answer).toMatchObject({ released: 2, failed: 0 });
    expect((await prod.releaseAll()).answer).toMatchObject({ released: 0, failed: 0 });
    expect(await prod.marks()).toEqual({});
  });
}
