/** The keys of an item, and the field that says when it may be deleted, in seconds since 1970. */
export const HoldTable = {
  partitionKey: "kind",
  sortKey: "name",
  forgetAt: "forgetAt",
} as const;

/** What is kept; each kind is one partition, so that one query reads all of it. */
export const Kind = {
  record: "record",
  history: "history",
  sweep: "sweep",
  probe: "probe",
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];
