import { parseQuantity } from "../../../lambda/kubernetes/quantity.ts";

/** A Kubernetes quantity as a number, cores or bytes; or an error. */
export function amountOf(quantity: string | number): number {
  const amount = parseQuantity(String(quantity));
  if (amount === undefined) throw new Error(`${quantity} is no quantity`);
  return amount;
}

const gib = 2 ** 30;

/** Memory in GiB. What requests none takes none. */
export const gibOf = (quantity: string | number | undefined): number =>
  quantity === undefined ? 0 : amountOf(quantity) / gib;
