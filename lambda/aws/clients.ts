import { type Duration, seconds } from "../core/duration.ts";

/** The limit of a request ends with the headers of the answer; the socket's is for the rest of it. */
export const answersWithin = (time: Duration) => ({ requestTimeout: time, socketTimeout: time });

/**
 * Retries and timeouts of every AWS client. By default the SDK waits for an answer for ever, so one lost packet would
 * block a function until its own timeout. The retries must fit into that time, too.
 */
export const clientDefaults = {
  maxAttempts: 4,
  requestHandler: {
    connectionTimeout: seconds(2),
    ...answersWithin(seconds(5)),
    throwOnRequestTimeout: true,
  },
} as const;

/**
 * In an account with very many instances, EC2 needs longer for a page. Its calls have one budget for the whole account,
 * from which Karpenter takes, too: where EC2 throttles, this client slows down by itself.
 */
export const ec2Defaults = {
  ...clientDefaults,
  retryMode: "adaptive",
  requestHandler: { ...clientDefaults.requestHandler, ...answersWithin(seconds(20)) },
} as const;
