import { expect, it } from "vitest";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { lookAtNodes } from "../../lambda/core/pays.ts";
import type { Room } from "../../lambda/core/room.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aBound, aRoom, waiting } from "./rooms.ts";

const prices = { relaunchCost: minutes(2), evictionCost: minutes(3) };
const load = (node: string, fixed?: string) =>
  aBound(node, { requests: { cpu: 7_000 }, ...(fixed && { fixed }) });

/** The minutes since noon in which each node was let go, when none of them is superfluous. */
function turnsIn(days: number, nodes: readonly Room[], takes: (name: string) => boolean = () => false) {
  const found = new Map<string, number[]>(nodes.map(({ name }) => [name, []]));
  const pods = nodes.map(({ name }) => load(name, name === "batch" ? "a Job runs on it" : undefined));
  let present = nodes;
  let account = waiting;
  for (let minute = 0; minute < days * 24 * 60; minute++) {
    const look = lookAtNodes(account, present, pods, prices, after(noon, minutes(minute)));
    account = look.account;
    const gone = look.verdicts.filter(({ isLetGo }) => isLetGo).map(({ name }) => name);
    for (const name of gone) found.get(name)?.push(minute);
    present = present.filter(({ name }) => !gone.includes(name) || !takes(name));
  }
  return { found: Object.fromEntries(found), account };
}

const aNode = (name: string) => aRoom(name, { createdAt: noon });

it("Karpenter may take each node for ten minutes a day from its second day on, each in its own turn", () => {
  const { web = [], api = [] } = turnsIn(3, [aNode("web"), aNode("api")]).found;
  for (const turns of [web, api]) {
    expect(turns.length).toBe(20);
    expect(turns[0]).toBeGreaterThanOrEqual(24 * 60);
    expect(turns.map((minute) => minute - (turns[0] ?? 0))).toEqual(
      Array.from({ length: 20 }, (_, i) => (i < 10 ? i : 24 * 60 + i - 10)),
    );
  }
  expect(web[0]).not.toBe(api[0]);
});

it("not while a Job runs on it", () => {
  expect(turnsIn(3, [aNode("batch")]).found).toEqual({ batch: [] });
});

it("its removal then teaches nothing about pauses: it was not superfluous", () => {
  const { found, account } = turnsIn(3, [aNode("web"), aNode("api")], (name) => name === "web");
  expect(found.web?.length).toBe(1);
  expect(account.pauses).toMatchObject({ open: [], gone: 0, learned: waiting.pauses.learned });
});

it("a record has room for those that have their turn at once", () => {
  const nodes = Array.from({ length: 30_000 }, (_, n) => aNode(`node-${n}`));
  const pods = nodes.map(({ name }) => load(name));
  const { account, since } = lookAtNodes(waiting, nodes, pods, prices, after(noon, hours(30)));
  expect(since.letGo).toBe(200);
  expect(Object.keys(account.letGo).length).toBe(200);
});

it("says why", () => {
  const nodes = [aNode("web")];
  const [minute = 0] = turnsIn(2, nodes).found.web ?? [];
  const { verdicts } = lookAtNodes(waiting, nodes, [load("web")], prices, after(noon, minutes(minute)));
  expect(verdicts).toEqual([
    { name: "web", isLetGo: true, because: "held for a day; once a day Karpenter may take each node" },
  ]);
});
