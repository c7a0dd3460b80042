import { describe, expect, it } from "vitest";
import { lookUp } from "../../cli/advise/cloudtrail.ts";
import { instanceEventsIn, recordsIn } from "../../cli/advise/cloudtrail-events.ts";
import { livedIn } from "../../cli/advise/lives.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { fakeAws, json } from "../support/fake-aws.ts";
import { evict, fleet, fleetInVain, idOf, karpenter, run, terminate } from "./cloudtrail-records.ts";
import { at } from "./karpenter-lines.ts";

describe("CloudTrail's records", () => {
  it.each([
    ["a fleet", fleet(1, 0)],
    ["an instance run", run(1, 0)],
  ])("reads a launch by %s: when, what and in which NodePool", (_, record) => {
    const by = karpenter.sessionContext.sessionIssuer.arn;
    const node = { instance: idOf(1), nodePool: "batch" };
    expect(instanceEventsIn(record, "prod")).toEqual([{ at: noon, ...node, by }]);
  });

  it.each([
    ["prod", ["batch"]],
    ["other", []],
  ])("reads a launch by EKS Auto Mode for prod, and asked for %s it is %j", (cluster, expected) => {
    const record = JSON.stringify(fleet(1, 0, "prod"))
      .replaceAll("karpenter.sh/nodepool", "eks:kubernetes-node-pool-name")
      .replaceAll("kubernetes.io/cluster/prod", "Name");
    const reported = instanceEventsIn(JSON.parse(record), cluster);
    expect(reported.map(({ nodePool }) => nodePool)).toEqual(expected);
  });

  it("reads a termination and its caller", () => {
    expect(instanceEventsIn(terminate(1, 5, { arn: "arn:a-user" }), "prod")).toEqual([
      { at: at(5), instance: idOf(1), by: "arn:a-user" },
    ]);
  });

  it("reads no tag of another form, and no text that only contains an instance's id", () => {
    const record = fleet(1, 0);
    const odd = [{ Key: "karpenter.sh/nodepool", Value: 7 }, { Key: 7, Value: "owned" }, null, 7];
    const requestParameters = { ...record.requestParameters, odd };
    const responseElements = { ...record.responseElements, note: `${idOf(2)} or x${idOf(3)}`, odd };
    const reported = instanceEventsIn({ ...record, requestParameters, responseElements }, "prod");
    expect(reported).toMatchObject([{ instance: idOf(1), nodePool: "batch" }]);
  });

  it("reads every instance of a fleet", () => {
    const reported = instanceEventsIn(fleet(1, 0, "prod", [2, 3]), "prod");
    expect(reported.map(({ instance }) => instance)).toEqual([1, 2, 3].map(idOf));
  });

  it("reads a spot interruption, which is not a termination by Karpenter", () => {
    const reported = [fleet(1, 0), run(1, 0), evict(1, 5)].flatMap((one) => instanceEventsIn(one, "prod"));
    expect(livedIn(reported, noon)).toMatchObject({ removals: [], ended: [idOf(1)] });
  });

  it("reads that Karpenter terminated an instance of its fleet", () => {
    for (const launch of [fleet(1, 0), run(1, 0)]) {
      const reported = [launch, terminate(1, 5)].flatMap((one) => instanceEventsIn(one, "prod"));
      expect(livedIn(reported, noon)).toMatchObject({ removals: [{ node: idOf(1), at: at(5) }] });
    }
  });

  it.each([
    ["another cluster's", fleet(1, 0, "other")],
    ["one without capacity", fleetInVain(1, 0)],
    ["a refused one", { ...fleet(1, 0), errorCode: "Client.InsufficientInstanceCapacity" }],
    ["another call", { ...fleet(1, 0), eventName: "DescribeInstances" }],
    ["nonsense", "nonsense"],
  ])("reads nothing from %s", (_, record) => {
    expect(instanceEventsIn(record, "prod")).toEqual([]);
  });

  const lookedUp = { Events: [{ CloudTrailEvent: JSON.stringify(fleet(1, 0)) }] };
  it.each([
    ["lookup-events", JSON.stringify(lookedUp)],
    ["lookup-events for people", JSON.stringify(lookedUp, null, 2)],
    ["a log file", JSON.stringify({ Records: [fleet(1, 0)] })],
    ["a list", JSON.stringify([fleet(1, 0)])],
  ])("are read as %s exports them", (_, text) => {
    expect(recordsIn(text)).toEqual([fleet(1, 0)]);
  });
});

describe("reading from CloudTrail", () => {
  const lookup = (...records: object[]) =>
    records.map((record) => ({
      EventTime: new Date(String(Reflect.get(record, "eventTime"))).getTime() / 1000,
      CloudTrailEvent: JSON.stringify(record),
    }));

  /** Reads all that these answers give. */
  async function read(answers: (call: string, page: number) => object) {
    const pages = new Map<string, number>();
    const aws = await fakeAws((request) => {
      const call = JSON.parse(request.body).LookupAttributes[0].AttributeValue;
      const page = (pages.get(call) ?? 0) + 1;
      pages.set(call, page);
      return json(answers(call, page));
    });
    const waits: number[] = [];
    const shares: number[] = [];
    const events = await lookUp({
      ...{ config: aws.client, cluster: "prod", from: at(-10), to: at(60) },
      wait: async (ms) => void waits.push(ms),
      advance: (share) => void shares.push(share),
    });
    await aws.close();
    const asked = aws.requests.map(({ body }) => JSON.parse(body));
    return { events, asked, waits, shares };
  }

  it("reads launches and terminations page by page, also after an empty one, at most twice a second", async () => {
    const { events, asked, waits, shares } = await read((call, page) => {
      if (call === "CreateFleet" && page === 1) return { Events: lookup(fleet(2, 30)), NextToken: "more" };
      if (call === "CreateFleet" && page === 2) return { Events: [], NextToken: "last" };
      if (call === "CreateFleet") return { Events: lookup(fleet(1, 0)) };
      return { Events: call === "TerminateInstances" ? lookup(terminate(1, 5)) : [] };
    });
    expect(events).toHaveLength(3);
    expect(shares.at(-1)).toBe(1);
    expect(shares).toEqual(shares.toSorted((one, other) => one - other));
    expect(asked.map(({ NextToken = "first" }) => NextToken)).toEqual([
      ...["first", "more", "last"],
      ...Array(3).fill("first"),
    ]);
    expect(waits.every((ms) => ms >= 500)).toBe(true);
  });
});
