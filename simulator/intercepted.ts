/** Does something around a call: before it, instead of it, or after it. */
export type Around = <T>(call: string, effect: () => Promise<T>) => Promise<T>;

/** A port of the same kind whose calls all go through `around`, under the names given. */
export function intercepted<Port extends object>(
  port: Port,
  names: Readonly<Record<keyof Port, string>>,
  around: Around,
): Port {
  const calls = Object.entries(names).map(([method, name]) => {
    const effect = Reflect.get(port, method) as (...args: unknown[]) => Promise<unknown>;
    return [method, (...args: unknown[]) => around(String(name), () => effect.apply(port, args))];
  });
  return Object.fromEntries(calls);
}
