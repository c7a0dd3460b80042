import { messageOf } from "../lambda/core/errors.ts";

/** Why a file cannot be used, in words: Node adds its code, the call and the path. */
export const fileProblem = (error: unknown): string =>
  messageOf(error).replace(/^E[A-Z]+: (.+?), \w+(?: '.*')?$/s, "$1");
