import { type Duration, hours } from "../../../lambda/core/duration.ts";
import { busyCluster, costsOf, totalOf } from "../../../scripts/costs.ts";

/** List prices of us-east-1 in dollars an hour: the holder on a busy cluster, EKS, and a node of 2 cores. */
const holder = totalOf(costsOf(busyCluster)) / 730;
const controlPlane = 0.1;
const node = 0.096;
/** The work that is printed keeps so many nodes in the mean. */
const usualNodes = 5;

/** What a ledger costs about, line by line. */
export function priceLines(lasts: Duration): readonly string[] {
  const time = lasts / hours(1);
  const lines: readonly (readonly [string, number])[] = [
    ["the holder", holder * time],
    [`nodes of the work, ${usualNodes} of 2 cores in the mean`, usualNodes * node * time],
    ["the cluster, if you run it for this alone", controlPlane * time],
  ];
  const sum = lines.reduce((total, [, dollars]) => total + dollars, 0);
  return [...lines, ["together", sum] as const].map(
    ([what, dollars]) => `  ${dollars.toFixed(2).padStart(6)} US$  ${what}`,
  );
}
