const units: Readonly<Record<string, number>> = {
  "": 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** A Kubernetes quantity as a number: cores, or bytes. */
export function amountOf(quantity: string | number): number {
  const [, digits = "", unit = ""] = /^([\d.]+)([a-zA-Z]*)$/.exec(String(quantity)) ?? [];
  const size = units[unit];
  if (digits === "" || size === undefined) throw new Error(`${quantity} is no quantity`);
  // 500m is a half exactly, not 0.5000000000000001.
  return unit === "m" ? Number(digits) / 1_000 : Number(digits) * size;
}

const gib = 2 ** 30;

/** Memory in GiB. What requests none takes none. */
export const gibOf = (quantity: string | number | undefined): number =>
  quantity === undefined ? 0 : amountOf(quantity) / gib;
