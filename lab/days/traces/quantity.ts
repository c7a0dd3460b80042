const units: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["m", 1e-3],
  ["k", 1e3],
  ["M", 1e6],
  ["G", 1e9],
  ["T", 1e12],
  ["Ki", 2 ** 10],
  ["Mi", 2 ** 20],
  ["Gi", 2 ** 30],
  ["Ti", 2 ** 40],
]);

/** A Kubernetes quantity as a number, cores or bytes; undefined for anything else. */
export function readAmount(quantity: string | number): number | undefined {
  const [, digits = "", unit = ""] = /^(\d{1,15}(?:\.\d+)?)([a-zA-Z]*)$/.exec(String(quantity)) ?? [];
  const size = units.get(unit);
  if (digits === "" || size === undefined) return undefined;
  // 500m is a half exactly, not 0.5000000000000001.
  return unit === "m" ? Number(digits) / 1_000 : Number(digits) * size;
}

/** A Kubernetes quantity as a number, or an error. */
export function amountOf(quantity: string | number): number {
  const amount = readAmount(quantity);
  if (amount === undefined) throw new Error(`${quantity} is no quantity`);
  return amount;
}

const gib = 2 ** 30;

/** Memory in GiB. What requests none takes none. */
export const gibOf = (quantity: string | number | undefined): number =>
  quantity === undefined ? 0 : amountOf(quantity) / gib;
