import { describe, expect, it } from "vitest";
import { attemptAll, messageOf } from "../../lambda/core/errors.ts";

describe("several tasks", () => {
  const attempt = (failures: readonly unknown[]) => {
    const done: number[] = [];
    const works = [...failures, undefined].map((failure, n) => async () => {
      if (failure !== undefined) throw failure;
      done.push(n);
    });
    return { done, end: attemptAll(works) };
  };

  it("all run, and succeed where none fails", async () => {
    const { done, end } = attempt([]);
    await expect(end).resolves.toBeUndefined();
    expect(done).toEqual([0]);
  });

  it("fail with the one failure, after the others have run", async () => {
    const failure = new Error("x");
    const { done, end } = attempt([failure]);
    await expect(end).rejects.toBe(failure);
    expect(done).toEqual([1]);
  });

  it.each([
    ["all", ["a", new Error("b")], "a; b"],
    ["all of five", ["a", "b", "c", "d", "e"], "a; b; c; d; e"],
    ["many, each once", ["a", "b", "a", "a"], "a; b"],
    ["five of more", ["a", "b", "c", "d", "e", "f", "g"], "a; b; c; d; e; and 2 more"],
  ])("name the reasons of %s", async (_, failures, message) => {
    await expect(attempt(failures).end).rejects.toMatchObject({ message, errors: failures });
  });
});

describe("an error", () => {
  it.each([
    [new Error("down"), "down"],
    ["down", "down"],
    [undefined, "no reason was given"],
    [{ message: "down" }, "no reason was given"],
    [new Error("[object Object]"), "no reason was given"],
    [new AggregateError([new Error("a is down"), new Error("b is down")]), "a is down; b is down"],
    [new AggregateError([new Error("a is down")], "all are down"), "all are down"],
  ])("has for %s the message %s", (error, message) => {
    expect(messageOf(error)).toBe(message);
  });
});
