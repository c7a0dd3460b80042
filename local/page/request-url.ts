import type { IncomingMessage } from "node:http";

const root = "http://localhost/";

/** The requested address; an invalid one, like //, counts as the root. */
export const requestUrl = ({ url = "/" }: Pick<IncomingMessage, "url">): URL =>
  URL.parse(url, root) ?? new URL(root);
