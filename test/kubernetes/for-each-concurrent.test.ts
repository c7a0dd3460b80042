import { describe, expect, it, vi } from "vitest";
import { forEachConcurrent } from "../../lambda/kubernetes/for-each-concurrent.ts";

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Work on ten items, each of which goes on until it is ended. */
function begin(limit: number) {
  const taken: number[] = [];
  const open = new Map<number, PromiseWithResolvers<void>>();
  async function* ten() {
    for (let n = 1; n <= 10; n++) {
      taken.push(n);
      yield n;
    }
  }
  const done = forEachConcurrent(ten(), limit, (n) => {
    const work = Promise.withResolvers<void>();
    open.set(n, work);
    return work.promise.finally(() => open.delete(n));
  });
  return { taken, open, done };
}

describe("a concurrency limit", () => {
  it("processes all items, at most this many at a time, and takes no item early", async () => {
    const { taken, open, done } = begin(4);
    for (let ended = 0; ended < 10; ended++) {
      await settled();
      expect([taken.length, open.size]).toEqual([Math.min(4 + ended, 10), Math.min(4, 10 - ended)]);
      for (const one of [...open.values()].slice(0, 1)) one.resolve();
    }
    await done;
  });

  it("finishes running items and takes no more when one fails", async () => {
    const { taken, open, done } = begin(3);
    const end = vi.fn();
    done.then(end, end);
    await settled();
    open.get(2)?.reject(new Error("no"));
    await settled();
    expect(end).not.toHaveBeenCalled();
    for (const one of open.values()) one.resolve();
    await expect(done).rejects.toThrow("no");
    expect(taken).toEqual([1, 2, 3]);
  });

  it("fails with the source", async () => {
    const done: number[] = [];
    async function* broken() {
      yield 1;
      throw new Error("the list broke off");
    }
    const failure = forEachConcurrent(broken(), 3, async (n) => done.push(n));
    await expect(failure).rejects.toThrow("the list broke off");
    expect(done).toEqual([1]);
  });
});
