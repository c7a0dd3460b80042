import type { Json } from "./objects.ts";

/** The Status object of an error answer. */
export const statusOf = (code: number, reason: string, message: string): Json => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: code < 400 ? "Success" : "Failure",
  ...(message ? { message } : {}),
  ...(reason ? { reason } : {}),
  code,
});
