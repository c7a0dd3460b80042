/** List prices in US dollars, us-east-1, without free tiers, typed in by hand from AWS's pricing pages. */
export const prices = {
  asOf: "June 2025",
  lambdaGigabyteSecondArm: 0.0000133334,
  lambdaRequest: 0.2 / 1e6,
  sqsRequest: 0.4 / 1e6,
  schedulerInvocation: 1 / 1e6,
  dynamoWrite: 0.625 / 1e6,
  dynamoRead: 0.125 / 1e6,
  logGigabyte: 0.5,
  customMetric: 0.3,
  alarmMetric: 0.1,
  dashboard: 3,
} as const;

/** AWS's own events on the default bus and calls of EC2 and EKS cost nothing; storage here is a few megabytes. */
export const free =
  "EventBridge (events of AWS itself), calls of EC2 and EKS, storage of table and logs (below a cent)";
