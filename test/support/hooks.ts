/** What a test does around an in-memory port's calls; what a hook throws, that call fails with. */
export type Hooks = {
  /** Before anything has happened: the call never got there. */
  before?: (call: string) => void | Promise<void>;
  /** When all has happened: the call was done, but its answer got lost. */
  after?: (call: string) => void | Promise<void>;
};

export async function hooked<T>(hooks: Hooks, call: string, effect: () => T): Promise<T> {
  await hooks.before?.(call);
  const result = effect();
  await hooks.after?.(call);
  return result;
}
