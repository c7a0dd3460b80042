import { describe, expect, it } from "vitest";
import { attemptAll } from "../../../lambda/core/attempt-all.ts";
import { BadInputError, BrokenSetupError, messageOf, TryAgainError } from "../../../lambda/core/errors.ts";
import {
  changeRecord,
  readableRecord,
  wholeClusterRecord,
} from "../../../lambda/core/holds/change-record.ts";
import { UnreadableRecordError } from "../../../lambda/core/holds/unreadable.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aPastHold, aRecord } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

describe("a change of a record", () => {
  it("begins with an empty record where there is none, and writes what was decided", async () => {
    const { context, record } = coreWorld();
    const decide = (found: object) => ({ record: { ...aRecord(), ...found, lastLaunchAt: noon } });
    await changeRecord(context, "cluster", decide);
    expect(record()).toEqual(aRecord({ version: 1, lastLaunchAt: noon }));
  });

  it("writes nothing, and no history, where nothing is decided", async () => {
    const { context, world } = coreWorld();
    await changeRecord(context, "cluster", () => ({ past: aPastHold() }));
    expect([world.holds.records.size, world.journal.past.size]).toEqual([0, 0]);
  });

  it.each(["past", "superseded"] as const)("keeps a hold in history: %s", async (name) => {
    const { context, world } = coreWorld();
    await changeRecord(context, "cluster", (record) => ({ record, [name]: aPastHold() }));
    expect([...world.journal.past.values()]).toEqual([aPastHold()]);
  });

  it("is decided anew when someone wrote in between, and given up after twenty times", async () => {
    const { context, world } = coreWorld();
    const others = (times: number) => {
      let decisions = 0;
      return changeRecord(context, "cluster", (record) => {
        if (++decisions <= times) void world.holds.replace(record);
        return { record, decisions };
      });
    };
    expect((await others(19)).decisions).toBe(20);
    await expect(others(20)).rejects.toThrow(
      new TryAgainError("the record of cluster was changed by others 20 times in a row"),
    );
  });
});

describe("a record that cannot be read whole", () => {
  const broken = (error: Error) => {
    const { context } = coreWorld();
    const find = () => Promise.reject(error);
    return { ...context, holds: { ...context.holds, find } };
  };

  it("is what can be read of it; any other failure is one", async () => {
    const rest = aRecord({ version: 7 });
    const unreadable = broken(new UnreadableRecordError("x", { rest }));
    expect(await readableRecord(unreadable, "cluster")).toEqual(rest);
    await expect(readableRecord(broken(new Error("down")), "cluster")).rejects.toThrow("down");
  });
});

it("the whole cluster's record is another one only for a NodePool", async () => {
  const { context } = coreWorld({ records: [aRecord({ version: 6 })] });
  expect(await wholeClusterRecord(context, "cluster")).toBeUndefined();
  expect(await wholeClusterRecord(context, "nodepool/a")).toEqual(aRecord({ version: 7 }));
});

describe("several works", () => {
  const attempt = (failures: readonly unknown[]) => {
    const done: number[] = [];
    const works = [...failures, undefined].map((failure, n) => async () => {
      if (failure !== undefined) throw failure;
      done.push(n);
    });
    return { done, end: attemptAll(works) };
  };

  it("are all attempted, and end well where none failed", async () => {
    const { done, end } = attempt([]);
    await expect(end).resolves.toBeUndefined();
    expect(done).toEqual([0]);
  });

  it("fail with the one failure, after the others were attempted", async () => {
    const failure = new Error("x");
    const { done, end } = attempt([failure]);
    await expect(end).rejects.toBe(failure);
    expect(done).toEqual([1]);
  });

  it.each([
    ["all", ["a", new Error("b")], "a; b"],
    ["all of five", ["a", "b", "c", "d", "e"], "a; b; c; d; e"],
    ["five of more", ["a", "b", "c", "d", "e", "f", "g"], "a; b; c; d; e; and 2 more"],
  ])("name the reasons of %s", async (_, failures, message) => {
    await expect(attempt(failures).end).rejects.toMatchObject({ message, errors: failures });
  });
});

describe("an error", () => {
  it.each([
    ["BadInputError", () => new BadInputError("Wrong", ["a", "b"]), "Wrong: a; b"],
    ["TryAgainError", () => new TryAgainError("x"), "x"],
    ["BrokenSetupError", () => new BrokenSetupError("x"), "x"],
    ["UnreadableRecordError", () => new UnreadableRecordError("x", { rest: aRecord() }), "x"],
  ])("has its name and what is wrong: %s", (name, make, message) => {
    expect(make()).toMatchObject({ name, message });
  });

  it.each([
    [new Error("down"), "down"],
    ["down", "down"],
    [undefined, "no reason was given"],
    [{ message: "down" }, "no reason was given"],
    [new Error("[object Object]"), "no reason was given"],
    [new AggregateError([new Error("a is down"), new Error("b is down")]), "a is down; b is down"],
    [new AggregateError([new Error("a is down")], "all are down"), "all are down"],
  ])("says %s as %s", (error, message) => {
    expect(messageOf(error)).toBe(message);
  });
});
