const written = /^([+-]?\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/;

type Suffixes = Readonly<Record<string, number>>;
const exponents: Suffixes = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const factors: Suffixes = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 };

/** Reads a Kubernetes quantity like 100m, 1.5Gi or 2e3; undefined for any other text. */
export function parseQuantity(text: string): number | undefined {
  const match = written.exec(text);
  if (!match) return undefined;
  const [, number = "", exponent, suffix = ""] = match;
  const factor = factors[suffix];
  if (factor !== undefined) return Number(number) * factor;
  // 9m is 0.009 exactly, not 0.009000000000000001.
  return Number(`${number}e${exponent ?? exponents[suffix] ?? 0}`);
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
