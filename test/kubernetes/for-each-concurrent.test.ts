import { describe, expect, it } from "vitest";
import { forEachConcurrent } from "../../lambda/kubernetes/for-each-concurrent.ts";

async function* countTo(last: number, taken: number[] = []) {
  for (let n = 1; n <= last; n++) {
    taken.push(n);
    yield n;
  }
}

/** Work that goes on until it is asked to end. */
function openWork() {
  const open = new Map<number, PromiseWithResolvers<void>>();
  let most = 0;
  return {
    open,
    most: () => most,
    act: (n: number) => {
      const work = Promise.withResolvers<void>();
      open.set(n, work);
      most = Math.max(most, open.size);
      return work.promise.finally(() => open.delete(n));
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("a concurrency limit", () => {
  it("processes all items, at most this many at a time, and takes no item early", async () => {
    const work = openWork();
    const taken: number[] = [];
    const done = forEachConcurrent(countTo(10, taken), 4, work.act);
    await settled();
    expect(taken).toEqual([1, 2, 3, 4]);
    while (taken.length < 10 || work.open.size > 0) {
      for (const one of work.open.values()) one.resolve();
      await settled();
    }
    await done;
    expect(work.most()).toBe(4);
  });

  it("finishes running items and takes no more when one fails", async () => {
    const work = openWork();
    const taken: number[] = [];
    let isOver = false;
    const done = forEachConcurrent(countTo(10, taken), 3, work.act).finally(() => {
      isOver = true;
    });
    done.catch(() => {});
    await settled();
    work.open.get(2)?.reject(new Error("no"));
    await settled();
    expect(isOver).toBe(false);
    for (const one of work.open.values()) one.resolve();
    await expect(done).rejects.toThrow("no");
    expect(taken).toEqual([1, 2, 3]);
  });

  it("fails with the source", async () => {
    const done: number[] = [];
    async function* broken() {
      yield 1;
      throw new Error("the list broke off");
    }
    await expect(forEachConcurrent(broken(), 3, async (n) => done.push(n))).rejects.toThrow(
      "the list broke off",
    );
    expect(done).toEqual([1]);
  });
});
