import { describe, expect, it } from "vitest";
import { instanceIdOf, ReportedInstances, withAwsIds } from "../../../lab/days/holder/instances.ts";
import { parseMessage } from "../../../lambda/handlers/events.ts";
import { instanceIn } from "../../../lambda/kubernetes/node-objects.ts";
import { launchEvent } from "../../../simulator/fake-ec2.ts";

const providerID = "kwok://default-abcde";
const id = instanceIdOf(providerID);

describe("an instance of Karpenter's kwok provider", () => {
  it("has an id that the launch event may carry", () => {
    const message = parseMessage(JSON.stringify(launchEvent(id, new Date(0))));
    expect(message).toEqual({ kind: "launch", launch: { instance: id, launchedAt: new Date(0) } });
    expect(instanceIdOf("kwok://default-other")).not.toBe(id);
  });

  it("is the instance of its node and of its NodeClaim, by themselves and in lists", () => {
    const [node, claim] = [
      { spec: { providerID, taints: [] } },
      { spec: { nodeClassRef: {} }, status: { providerID } },
    ];
    const instanceOf = (object: unknown) => {
      const { spec, status } = Object(withAwsIds(object));
      return instanceIn(spec?.providerID ?? status?.providerID);
    };
    expect([node, claim].map(instanceOf)).toEqual([id, id]);
    const list = Object(withAwsIds({ metadata: { continue: "x" }, items: [node, claim] }));
    expect(list.metadata).toEqual({ continue: "x" });
    expect(list.items[0].spec).toEqual({ providerID: `aws:///zone-a/${id}`, taints: [] });
    expect(list.items[1].status.providerID).toBe(`aws:///zone-a/${id}`);
  });

  it("leaves everything else as it is: metadata alone, empty lists, errors", () => {
    for (const body of [{ metadata: { name: "a" } }, { items: null }, { spec: { providerID: "" } }, "text"])
      expect(withAwsIds(body)).toEqual(body);
  });
});

it("EC2 knows the launched instances in whole seconds until they are gone", async () => {
  const instances = new ReportedInstances();
  const launch = instances.add({ instance: providerID, nodePool: "default", launchedAt: 61_900 });
  expect(launch).toEqual({ instance: id, nodePool: "default", launchedAt: new Date(61_000) });
  const found = await instances.find([id, "i-other"]);
  expect([...found]).toEqual([[id, { id, nodePool: "default", launchedAt: new Date(61_000) }]]);
  expect(await instances.since(new Date(61_000))).toEqual([launch]);
  expect(await instances.since(new Date(62_000))).toEqual([]);
  instances.remove(providerID);
  expect(await instances.since(new Date(0))).toEqual([]);
});
