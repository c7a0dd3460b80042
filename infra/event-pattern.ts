import { probeDetailType, probeSource } from "../lambda/handlers/event-sources.ts";

type Source = Readonly<{
  cluster: string;
  account: string;
  region: string;
  /** What only those know who may read the rule or the stack; in a template a reference, hence no text. */
  probeKey: unknown;
}>;

/**
 * The pattern of the rule on the event bus: every launched instance, and the probes of this cluster. Events that other
 * accounts and regions forward to this bus keep their own account and region. A probe without the key does not match:
 * the right to put events on the bus alone must not be able to delay launches by a flood of probes.
 */
export const launchesAndProbes = ({ cluster, account, region, probeKey }: Source) => ({
  account: [account],
  region: [region],
  $or: [
    {
      source: ["aws.ec2"],
      "detail-type": ["EC2 Instance State-change Notification"],
      detail: { state: ["pending"] },
    },
    {
      source: [probeSource],
      "detail-type": [probeDetailType],
      detail: { cluster: [cluster], key: [probeKey] },
    },
  ],
});
