import { seconds } from "../core/duration.ts";

/**
 * How every AWS client calls. As it comes, the SDK waits for an answer for ever, and a function would hang on one
 * lost packet until its own time is over; the retries must fit into that time, too.
 */
export const clientDefaults = {
  maxAttempts: 4,
  requestHandler: {
    connectionTimeout: seconds(2),
    requestTimeout: seconds(5),
    throwOnRequestTimeout: true,
  },
} as const;

/** A page of instances takes EC2 longer, in accounts with very many of them. */
export const ec2Defaults = {
  ...clientDefaults,
  requestHandler: { ...clientDefaults.requestHandler, requestTimeout: seconds(20) },
} as const;
