import type { Json } from "./objects.ts";

/** What the server says when it does not do what was asked. */
export const statusOf = (code: number, reason: string, message: string): Json => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: code < 400 ? "Success" : "Failure",
  ...(message ? { message } : {}),
  ...(reason ? { reason } : {}),
  code,
});
