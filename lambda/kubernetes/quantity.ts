const written = /^([+-]?\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/;

const decimal = { n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };
const binary = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 };
const factors: Readonly<Record<string, number>> = { ...decimal, ...binary };

/** Reads a Kubernetes quantity like 100m, 1.5Gi or 2e3; undefined for any other text. */
export function parseQuantity(text: string): number | undefined {
  const match = written.exec(text);
  if (!match) return undefined;
  const [, number = "", exponent, suffix] = match;
  const factor =
    exponent === undefined ? (suffix === undefined ? 1 : (factors[suffix] ?? 1)) : 10 ** Number(exponent);
  return Number(number) * factor;
}

/** Amounts by resource as decisions need them: cpu in thousandths of a core. What cannot be read counts as none. */
export function readResources(
  quantities: Readonly<Record<string, string | number>>,
): Readonly<Record<string, number>> {
  const entries = Object.entries(quantities).map(([name, text]): [string, number] => {
    const amount = parseQuantity(String(text)) ?? 0;
    return [name, name === "cpu" ? Math.round(amount * 1_000) : amount];
  });
  return Object.fromEntries(entries);
}
