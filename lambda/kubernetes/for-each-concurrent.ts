/**
 * Calls `act` for each item, at most `limit` at a time, and takes an item only when its call can start.
 * When an item or the source fails, the running calls end first.
 */
export async function forEachConcurrent<T>(
  items: AsyncIterable<T> | Iterable<T>,
  limit: number,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let isFailed = false;
  const work = async () => {
    try {
      while (!isFailed) {
        const next = await source.next();
        if (next.done) return;
        await act(next.value);
      }
    } catch (error) {
      isFailed = true;
      throw error;
    }
  };
  const results = await Promise.allSettled(Array.from({ length: limit }, work));
  const failure = results.find((result) => result.status === "rejected");
  if (failure) throw failure.reason;
}
