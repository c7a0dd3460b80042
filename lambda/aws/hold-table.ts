/** The one table's keys and the attribute that says when DynamoDB may forget an item. */
export const HoldTable = {
  partitionKey: "kind",
  sortKey: "name",
  forgetAt: "forgetAt",
} as const;

/** What the table keeps; each kind is one partition, so that one Query tells all of it. */
export const Kind = {
  record: "record",
  history: "history",
  sweep: "sweep",
  probe: "probe",
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];
